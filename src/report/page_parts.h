// The parts that all pages have in common.
#pragma once

namespace hogbatch::report {

extern const char* const
    kChartStyle;  // CSS of charts, with the palette; for files of their own, too
extern const char* const kPageStyle;   // CSS of everything else
extern const char* const kPageScript;  // values under the pointer, and zoom; pages work without it

}  // namespace hogbatch::report
