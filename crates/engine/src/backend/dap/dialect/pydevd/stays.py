# Follows `find.py` in the same module.
# Points stay in while those of their file are set anew: pydevd takes all of a file out before it puts the first
# one in again, and what the program passes meanwhile would be counted by nobody.


def _stay():
    from _pydevd_bundle.pydevd_process_net_command_json import PyDevJsonCommandProcessor as Processor
    from pydevd_file_utils import normcase_from_client

    anew = Processor.on_setbreakpoints_request
    if getattr(anew, "of_holdpoint", False):
        return

    def on_setbreakpoints_request(self, db, request):
        if db.file_to_id_to_plugin_breakpoint:
            return anew(self, db, request)
        old = []

        def remove_all_breakpoints(db, name):
            name = normcase_from_client(name)
            for key, (file, _asked) in list(db.api_received_breakpoints.items()):
                if key[0] == name:
                    del db.api_received_breakpoints[key]
                    old.append((file, key[1]))

        self.api.remove_all_breakpoints = remove_all_breakpoints
        try:
            return anew(self, db, request)
        finally:
            del self.api.remove_all_breakpoints
            _take_out(db, old)

    on_setbreakpoints_request.of_holdpoint = True
    Processor.on_setbreakpoints_request = on_setbreakpoints_request


def _take_out(db, old):
    """Of two on one line the later counts: the new ones have stood before these since they were put in."""
    for file in {file for file, _number in old}:
        points = db.file_to_id_to_line_breakpoint.get(file, {})
        for of, number in old:
            if of == file:
                points.pop(number, None)
        if points:
            db.consolidate_breakpoints(file, points, db.breakpoints)
        else:
            db.file_to_id_to_line_breakpoint.pop(file, None)
            db.breakpoints.pop(file, None)
    if old:
        db.on_breakpoints_changed(removed=True)


_stay()
