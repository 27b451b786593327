"""A network in TensorFlow, and its training on one device."""
import numpy as np
import tensorflow as tf

from common import Impossible

ACTIVATIONS = {"relu": tf.nn.relu, "sigmoid": tf.sigmoid, "tanh": tf.tanh,
               "gelu": lambda x: tf.nn.gelu(x, approximate=True)}


def sum_loss(loss, outputs, labels):
    """Over the rows of a batch. A sigmoid loss is summed over the labels, as hogbatch's gradient is."""
    if loss == "softmax":
        return tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=outputs))
    if loss == "sigmoid":
        return tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=outputs))
    return tf.reduce_sum(tf.math.squared_difference(outputs, labels))


class Optimizer:
    """Steps of variables by the fused kernels; the state is in variables, too."""

    def __init__(self, run, variables):
        self.run = run
        copies = 2 if run.optimizer == "adam" else (1 if run.momentum > 0 else 0)
        self.state = [[tf.Variable(tf.zeros_like(variable)) for _ in range(copies)] for variable in variables]
        self.powers = [tf.Variable(1.0) for _ in range(2)] if copies == 2 else []

    def variables(self):
        return [variable for state in self.state for variable in state] + self.powers

    def step(self, variables, gradients):
        run = self.run
        for power, beta in zip(self.powers, (0.9, 0.999)):
            power.assign(power * beta)
        for variable, gradient, state in zip(variables, gradients, self.state):
            if len(state) == 2:
                tf.raw_ops.ResourceApplyAdam(
                    var=variable.handle, m=state[0].handle, v=state[1].handle, grad=gradient, lr=run.lr,
                    beta1=0.9, beta2=0.999, epsilon=1e-8,
                    beta1_power=self.powers[0].read_value(), beta2_power=self.powers[1].read_value())
            elif state:
                tf.raw_ops.ResourceApplyMomentum(var=variable.handle, accum=state[0].handle, grad=gradient,
                                                 lr=run.lr, momentum=run.momentum)
            else:
                tf.raw_ops.ResourceApplyGradientDescent(var=variable.handle, alpha=run.lr, delta=gradient)


class Trainer:
    def __init__(self, run, problem):
        tf.config.threading.set_intra_op_parallelism_threads(run.threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        self.device = self._choose_device(run)
        self.run, self.problem = run, problem
        self.sparse = run.variant in ("gather", "sparse")
        self.first_layer = run.variant if self.sparse else "dense"
        if run.variant == "gather" and run.momentum > 0:
            raise Impossible("variant gather has plain SGD only")
        with tf.device(self._place):
            self._place_data()
            self._make_functions()

    def _choose_device(self, run):
        gpus = tf.config.list_physical_devices("GPU") if run.device != "cpu" else []
        if run.device == "gpu" and not gpus:
            raise Impossible("TensorFlow finds no GPU")
        for gpu in gpus:
            tf.config.experimental.set_memory_growth(gpu, True)
        self._place = "/GPU:0" if gpus else "/CPU:0"
        return "gpu" if gpus else "cpu"

    def _place_data(self):
        problem, train = self.problem, self.problem.train
        self.activation = ACTIVATIONS[problem.activation]
        self.variables = [tf.Variable(part) for layer in problem.layers for part in layer]
        self.optimizer = Optimizer(self.run, self.variables)
        self.labels = tf.constant(problem.labels(train))
        self.order = tf.Variable(np.zeros(train.rows, np.int32))
        if not self.sparse:
            if problem.sparse and problem.features > 4096:
                raise Impossible(f"dense rows of {problem.features} features that are mostly zero are no match "
                                 "for variant gather")
            self.x = tf.constant(problem.dense_rows(train))
            return
        count = len(train.values)
        self.offsets = tf.Variable(np.zeros(train.rows + 1, np.int32))
        self.columns = tf.Variable(np.zeros(count, np.int32))
        self.values = tf.Variable(np.zeros(count, np.float32))
        self.row_of = tf.Variable(np.zeros(count, np.int32))

    def _after_first(self, sums, rest):
        for weights, bias in zip(rest[0::2], rest[1::2]):
            sums = tf.nn.bias_add(tf.matmul(self.activation(sums), weights), bias)
        return sums

    def _first(self, x):
        """The sums of the first layer without its bias; sparse rows are (rows, columns, values, count)."""
        weights = self.variables[0]
        if not self.sparse:
            return tf.matmul(x, weights)
        rows, columns, values, count = x
        if self.run.variant == "gather":
            return tf.math.unsorted_segment_sum(tf.gather(weights, columns) * values[:, None], rows, count)
        indices = tf.cast(tf.stack([rows, columns], axis=1), tf.int64)
        shape = [tf.cast(count, tf.int64), self.problem.features]
        return tf.sparse.sparse_dense_matmul(tf.SparseTensor(indices, values, shape), weights)

    def _update(self, x, labels):
        """One step with a batch."""
        with tf.GradientTape() as tape:
            loss = self._loss(self._first(x), labels)
        self.optimizer.step(self.variables, tape.gradient(loss, self.variables))

    def _update_gathered(self, x, labels):
        """The same with the gradient of the first layer by hand: a third faster than what the tape makes of
        tf.gather and the segment sum."""
        sums = self._first(x)
        with tf.GradientTape() as tape:
            tape.watch(sums)
            loss = self._loss(sums, labels)
        of_sums, *gradients = tape.gradient(loss, [sums, *self.variables[1:]])
        rows, columns, values, _ = x
        steps = tf.gather(of_sums, rows) * (self.run.lr * values)[:, None]
        self.variables[0].scatter_sub(tf.IndexedSlices(steps, columns))
        self.optimizer.step(self.variables[1:], gradients)

    def _loss(self, sums, labels):
        """From the sums of the first layer without its bias."""
        outputs = self._after_first(tf.nn.bias_add(sums, self.variables[1]), self.variables[2:])
        return sum_loss(self.problem.loss, outputs, labels) / self.run.batch

    def _batch(self, at):
        rows = tf.slice(self.order, [at], [self.run.batch])
        labels = tf.gather(self.labels, rows)
        if not self.sparse:
            return tf.gather(self.x, rows), labels
        first, last = self.offsets[at], self.offsets[at + self.run.batch]
        parts = (tf.slice(part, [first], [last - first]) for part in (self.row_of, self.columns, self.values))
        rows, columns, values = parts
        return (rows - at, columns, values, self.run.batch), labels

    def _make_functions(self):
        batch = self.run.batch
        update = self._update_gathered if self.run.variant == "gather" else self._update
        update = tf.autograph.experimental.do_not_convert(update)
        if self.run.variant == "xla":  # the step alone: XLA's own loops are many times slower on processors
            update = tf.function(update, jit_compile=True)

        @tf.function
        def batches(begin, end):
            for at in tf.range(begin, end, batch):
                update(*self._batch(at))

        self.batches = batches
        self.forward = tf.function(self._forward, reduce_retracing=True)

    def _forward(self, x):
        return self._after_first(tf.nn.bias_add(self._first(x), self.variables[1]), self.variables[2:])

    def warm_up(self):
        """Traces, compiles and runs a few steps, and takes them back."""
        variables = self.variables + self.optimizer.variables()
        before = [variable.numpy() for variable in variables]
        rows, batch = self.problem.train.rows, self.run.batch
        self.begin_epoch(np.arange(rows))
        self.train(0, min(rows // batch, 5) * batch)
        for variable, old in zip(variables, before):
            variable.assign(old)

    def begin_epoch(self, order):
        self.order.assign(order.astype(np.int32))
        if self.sparse:
            offsets, columns, values = self.problem.train.shuffled_csr(order)
            rows = np.repeat(np.arange(len(order), dtype=np.int32), np.diff(offsets))
            for variable, part in ((self.offsets, offsets.astype(np.int32)), (self.columns, columns),
                                   (self.values, values), (self.row_of, rows)):
                variable.assign(part)

    def train(self, begin, end):
        with tf.device(self._place):
            self.batches(tf.constant(begin, tf.int32), tf.constant(end, tf.int32))
        self.variables[-1].numpy()  # waits

    def outputs(self, split, begin, end):
        with tf.device(self._place):
            if not self.sparse:
                return self.forward(tf.constant(split.dense(begin, end))).numpy()
            offsets, columns, values = split.csr(begin, end)
            rows = np.repeat(np.arange(end - begin, dtype=np.int32), np.diff(offsets))
            return self.forward(tuple(map(tf.constant, (rows, columns, values, np.int32(end - begin))))).numpy()
