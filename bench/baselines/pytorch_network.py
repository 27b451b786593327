"""A network in PyTorch, and its training on one device."""
import numpy as np
import torch
import torch.nn.functional as F

from common import Impossible

ACTIVATIONS = {"relu": torch.relu, "sigmoid": torch.sigmoid, "tanh": torch.tanh,
               "gelu": lambda x: F.gelu(x, approximate="tanh")}


def as_tensor(array, device):
    return torch.from_numpy(np.array(array)).to(device)


def mean_loss(loss, outputs, labels):
    """Over the rows of a batch. A sigmoid loss is summed over the labels, as hogbatch's gradient is."""
    if loss == "softmax":
        return F.cross_entropy(outputs, labels)
    if loss == "sigmoid":
        return F.binary_cross_entropy_with_logits(outputs, labels, reduction="sum") / len(labels)
    return F.mse_loss(outputs, labels)


class Network:
    """The weights, [out, in] as PyTorch likes them; those of a sparse first layer are [in, out]."""

    def __init__(self, problem, sparse, device):
        self.loss = problem.loss
        self.activation = ACTIVATIONS[problem.activation]
        self.sparse = sparse
        self.parameters = []
        for i, (weights, bias) in enumerate(problem.layers):
            weights = as_tensor(weights, device)
            keep = sparse and i == 0
            self.parameters += [weights if keep else weights.t().contiguous(), as_tensor(bias, device)]

    def forward(self, parameters, x):
        """`x`: dense rows, or the tensors of sparse rows."""
        weights, bias, *rest = parameters
        return self.after_first(bag(weights, x) + bias if self.sparse else F.linear(x, weights, bias), rest)

    def after_first(self, sums, rest):
        """The outputs from the sums of the first layer and the parameters of the others."""
        for w, b in zip(rest[0::2], rest[1::2]):
            sums = F.linear(self.activation(sums), w, b)
        return sums

    def loss_of(self, parameters, x, labels):
        return mean_loss(self.loss, self.forward(parameters, x), labels)

    def loss_after_first(self, sums, rest, labels):
        return mean_loss(self.loss, self.after_first(sums, rest), labels)


def bag(weights, rows):
    offsets, columns, values = rows
    return F.embedding_bag(columns, weights, offsets, mode="sum", sparse=True, per_sample_weights=values,
                           include_last_offset=True)


class Rows:
    """The training rows on the device, handed out by their place in the order of the epoch."""

    def __init__(self, problem, sparse, device):
        self.split = problem.train
        self.device = device
        self.sparse = sparse
        self.all_labels = as_tensor(problem.labels(self.split), device)
        if problem.loss == "softmax":
            self.all_labels = self.all_labels.long()
        if not sparse:
            self.x = as_tensor(problem.dense_rows(self.split), device)

    def shuffle(self, order):
        self.order = as_tensor(order, self.device)
        if self.sparse:
            offsets, columns, values = self.split.shuffled_csr(order)
            self.bounds = offsets.tolist()
            self.offsets, self.columns, self.values = (
                torch.from_numpy(part).to(self.device) for part in (offsets, columns.astype(np.int64), values))
            self.labels = self.all_labels.index_select(0, self.order)

    def batch(self, begin, end):
        if not self.sparse:
            rows = self.order[begin:end]
            return self.x.index_select(0, rows), self.all_labels.index_select(0, rows)
        first, last = self.bounds[begin], self.bounds[end]
        x = (self.offsets[begin:end + 1] - first, self.columns[first:last], self.values[first:last])
        return x, self.labels[begin:end]


def make_optimizers(run, network):
    """None for plain SGD, which needs no state. Adam is fused; EmbeddingBag's gradients need SparseAdam."""
    if run.optimizer == "sgd" and run.momentum == 0:
        return None
    if run.optimizer == "adam":
        dense = network.parameters[1:] if network.sparse else network.parameters
        optimizers = [torch.optim.Adam(dense, lr=run.lr, fused=True)]
        if network.sparse:
            optimizers.append(torch.optim.SparseAdam(network.parameters[:1], lr=run.lr))
        return optimizers
    if network.sparse:
        raise Impossible("PyTorch has no momentum for sparse gradients")
    return [torch.optim.SGD(network.parameters, lr=run.lr, momentum=run.momentum, fused=True)]


def make_step(run, network):
    """A function that makes one update of `network.parameters` with a batch."""
    parameters = network.parameters
    if run.variant == "compile":
        return make_compiled_step(run, network)
    for parameter in parameters:
        parameter.requires_grad_()
    optimizers = make_optimizers(run, network)

    def plain_step(x, labels):
        gradients = torch.autograd.grad(network.loss_of(parameters, x, labels), parameters)
        with torch.no_grad():
            for parameter, gradient in zip(parameters, gradients):
                parameter.add_(gradient, alpha=-run.lr)

    def step(x, labels):
        for optimizer in optimizers:
            optimizer.zero_grad(set_to_none=True)
        network.loss_of(parameters, x, labels).backward()
        for optimizer in optimizers:
            optimizer.step()

    return plain_step if optimizers is None else step


def make_compiled_step(run, network):
    """Gradients by torch.func, and their step, become one graph: faster than to compile the forward pass
    alone. A sparse first layer is written out, since sparse gradients cannot be compiled."""
    if run.momentum != 0:
        raise Impossible("variant compile has plain SGD only")
    parameters = tuple(network.parameters)

    def update(parameters, x, labels):
        gradients = torch.func.grad(network.loss_of)(parameters, x, labels)
        for parameter, gradient in zip(parameters, gradients):
            parameter.sub_(gradient, alpha=run.lr)

    def update_sparse(parameters, columns, values, rows, labels):
        weights, bias, *rest = parameters
        sums = torch.zeros(len(labels), weights.shape[1], device=weights.device)
        sums = sums.index_add(0, rows, weights.index_select(0, columns) * values.unsqueeze(1)) + bias
        of_sums, of_rest = torch.func.grad(network.loss_after_first, argnums=(0, 1))(sums, rest, labels)
        for parameter, gradient in zip(rest, of_rest):
            parameter.sub_(gradient, alpha=run.lr)
        bias.sub_(of_sums.sum(0), alpha=run.lr)
        of_values = of_sums.index_select(0, rows) * values.unsqueeze(1)
        weights.index_add_(0, columns, of_values, alpha=-run.lr)

    dense = torch.compile(update, fullgraph=True, dynamic=False)
    sparse = torch.compile(update_sparse, fullgraph=True)

    @torch.no_grad()
    def step(x, labels):
        if not network.sparse:
            return dense(parameters, x, labels)
        offsets, columns, values = x
        rows = torch.repeat_interleave(offsets.diff(), output_size=len(columns))
        for tensor in (columns, values, rows):  # as long as the rows of a batch have values
            torch._dynamo.mark_dynamic(tensor, 0)
        return sparse(parameters, columns, values, rows, labels)
    return step


def limit_threads(count):
    torch.set_num_threads(count)
    torch.set_num_interop_threads(1)
    torch.set_flush_denormal(True)


def choose_device(run):
    if run.device == "gpu" and not torch.cuda.is_available():
        raise Impossible("PyTorch finds no GPU")
    return "gpu" if run.device != "cpu" and torch.cuda.is_available() else "cpu"


class Trainer:
    def __init__(self, run, problem):
        limit_threads(run.threads)
        self.run = run
        self.device = choose_device(run)
        self.torch_device = "cuda" if self.device == "gpu" else "cpu"
        sparse = problem.sparse_first_layer(run)
        self.first_layer = "embedding" if sparse else "dense"
        self.network = Network(problem, sparse, self.torch_device)
        self.rows = Rows(problem, sparse, self.torch_device)
        self.step = make_step(run, self.network)

    def warm_up(self):
        """Compiles and runs a few updates, and takes them back."""
        before = [parameter.detach().clone() for parameter in self.network.parameters]
        rows, batch = self.rows.split.rows, self.run.batch
        self.begin_epoch(np.arange(rows))
        self.train(0, min(rows // batch, 5) * batch)
        with torch.no_grad():
            for parameter, old in zip(self.network.parameters, before):
                parameter.copy_(old)
        if self.run.variant != "compile":
            self.step = make_step(self.run, self.network)  # with fresh optimiser state

    def begin_epoch(self, order):
        self.rows.shuffle(order)

    def train(self, begin, end):
        for at in range(begin, end, self.run.batch):
            self.step(*self.rows.batch(at, at + self.run.batch))
        if self.device == "gpu":
            torch.cuda.synchronize()

    def outputs(self, split, begin, end):
        with torch.inference_mode():
            return self.network.forward(self.network.parameters, self._rows_of(split, begin, end)).cpu().numpy()

    def _rows_of(self, split, begin, end):
        if not self.network.sparse:
            return as_tensor(split.dense(begin, end), self.torch_device)
        offsets, columns, values = split.csr(begin, end)
        return tuple(as_tensor(part, self.torch_device) for part in (offsets, columns.astype(np.int64), values))

    def close(self):
        return 0
