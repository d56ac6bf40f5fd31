"""Where breakpoints of Rust lie, for Holdpoint. Loaded by lldb's own Python, beside what shows values."""

PLACES = 10000  # of one breakpoint that are looked at


def tidy(debugger):
    """Leaves one place of a line in each function: lldb has one for each scope that the line is in, so that a macro is
    passed three times. In optimised code they may be copies, each of which runs alone."""
    target = debugger.GetSelectedTarget()
    for index in range(target.GetNumBreakpoints()):
        point = target.GetBreakpointAtIndex(index)
        first = {}
        for number in range(min(point.GetNumLocations(), PLACES)):
            one = point.GetLocationAtIndex(number)
            address = one.GetAddress()
            function = address.GetFunction()
            if not one.IsEnabled() or not function.IsValid() or function.GetIsOptimized():
                continue
            inlined = address.GetBlock().GetContainingInlinedBlock()
            inlined = inlined.GetRangeStartAddress(0).GetFileAddress() if inlined.IsValid() else 0
            key = (function.GetStartAddress().GetFileAddress(), inlined)
            other = first.get(key)
            if other is None:
                first[key] = one
            elif other.GetAddress().GetFileAddress() <= address.GetFileAddress():
                one.SetEnabled(False)
            else:
                other.SetEnabled(False)
                first[key] = one
