//! What `sys.monitoring` calls: one function an event, each entered with the interpreter's lock.

use std::{
    ffi::c_void,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicPtr, Ordering},
};

use crate::{
    ffi::{self, Held, Obj},
    frames::{Frame, Thread},
    plan::{ASYNC, Code},
    raw,
    recorder::{Recorder, keep, op},
};

static RECORDER: AtomicPtr<Recorder> = AtomicPtr::new(std::ptr::null_mut());

/// # Safety
/// The lock is held, and what was got before is not used any more.
pub(crate) unsafe fn recorder<'a>() -> Option<&'a mut Recorder> {
    unsafe { RECORDER.load(Ordering::Relaxed).as_mut() }
}

pub(crate) fn install(recorder: Recorder) {
    // It lives as long as the process.
    RECORDER.store(Box::into_raw(Box::new(recorder)), Ordering::Relaxed);
}

/// What happened, in the order of the arguments of `sys.monitoring`.
struct Event<'a> {
    recorder: &'a mut Recorder,
    state: *mut c_void,
    running: raw::Frame,
    arguments: &'a [Obj],
}

/// An event's way in: nothing that goes wrong inside of it reaches the program.
unsafe fn enter(
    arguments: *const Obj,
    count: isize,
    handle: unsafe fn(&mut Event) -> Option<()>,
) -> Obj {
    let handled = catch_unwind(AssertUnwindSafe(|| unsafe {
        let Some(recorder) = recorder() else { return false };
        if !recorder.stream.is_open() {
            return true;
        }
        let state = ffi::PyThreadState_Get();
        let running = recorder.layout.running(state);
        let arguments = std::slice::from_raw_parts(arguments, count.cast_unsigned());
        let mut event = Event { recorder, state, running, arguments };
        let is_disabled = handle(&mut event).is_none();
        event.recorder.stream.settle();
        if !ffi::PyErr_Occurred().is_null() {
            ffi::PyErr_Clear();
        }
        is_disabled
    }));
    match handled {
        Ok(false) => ffi::none(),
        // The stream is closed, or the place is of no interest.
        Ok(true) => unsafe { disabled() },
        Err(_) => unsafe {
            if let Some(recorder) = recorder() {
                recorder.stream.forget();
            }
            ffi::none()
        },
    }
}

/// `sys.monitoring.DISABLE`: never again at this place.
unsafe fn disabled() -> Obj {
    unsafe { recorder().map_or_else(ffi::none, |it| keep(it.disable)) }
}

macro_rules! events {
    ($($name:ident => $handle:expr),+ $(,)?) => {
        $(pub(crate) unsafe extern "C" fn $name(_: Obj, arguments: *const Obj, count: isize) -> Obj {
            let handle: unsafe fn(&mut Event) -> Option<()> = $handle;
            // SAFETY: Python calls it with so many arguments and the lock held.
            unsafe { enter(arguments, count, handle) }
        })+
    };
}

events! {
    start => |it| unsafe { it.start() },
    line => |it| unsafe { it.line() },
    returned => |it| unsafe { it.returned(); Some(()) },
    yielded => |it| unsafe { it.yielded(); Some(()) },
    resumed => |it| unsafe { it.resumed(); Some(()) },
    unwound => |it| unsafe { it.unwound(); Some(()) },
    raised => |it| unsafe { it.raised(false); Some(()) },
    raised_again => |it| unsafe { it.raised(true); Some(()) },
    handled => |it| unsafe { it.handled(); Some(()) },
}

impl Event<'_> {
    /// The thread that this is, and its top frame if it is the one that runs.
    #[inline]
    unsafe fn top(&mut self) -> Option<(*mut Thread, *mut Frame)> {
        let thread = self.recorder.threads.get_mut(&(self.state as usize))?;
        let thread: *mut Thread = &raw mut **thread;
        // SAFETY: the boxes stay where they are.
        let stack = unsafe { &mut (*thread).stack };
        match stack.last_mut() {
            Some(top) if top.frame == self.running => Some((thread, &raw mut *top)),
            Some(_) => {
                let depth = stack.iter().rposition(|it| it.frame == self.running)?;
                // Frames above it ended without a word.
                while stack.len() > depth + 1 {
                    let lost = stack.pop()?;
                    self.lose(unsafe { (*thread).number }, &lost);
                }
                stack.last_mut().map(|top| (thread, &raw mut *top))
            }
            None => None,
        }
    }

    #[cold]
    fn lose(&mut self, thread: u32, lost: &Frame) {
        if lost.level > 0 {
            self.recorder.select(thread);
            // SAFETY: null is a value that was not bound.
            let value = unsafe { self.recorder.plain(std::ptr::null_mut()) };
            self.recorder.stream.byte(op::RETURN);
            self.recorder.stream.number(u64::from(value));
            self.recorder.stream.ticks();
        }
    }

    unsafe fn start(&mut self) -> Option<()> {
        unsafe {
            let object = *self.arguments.first()?;
            let code = match self.recorder.codes.get_mut(&(object as usize)) {
                Some(code) => &raw mut **code,
                None => self.discovered(object)?,
            };
            let thread = self.thread()?;
            let (thread, code) = (&mut *thread, &mut *code);
            thread.flying = 0;
            // Frames that ended unseen lie where this one is now.
            while let Some(lost) = thread.stack.pop_if(|it| it.frame == self.running) {
                self.lose(thread.number, &lost);
            }
            let level = self.recorder.level(code);
            let room = if code.is_focused { u32::MAX } else { self.recorder.limits.frame_lines };
            let mut frame = Frame::new(self.running, &raw mut *code, level, room, code.first);
            if level > 0 {
                self.task(thread, code);
                self.call(thread.number, &mut frame);
            } else {
                code.uncounted += 1;
            }
            thread.stack.push(frame);
            Some(())
        }
    }

    unsafe fn call(&mut self, thread: u32, frame: &mut Frame) {
        let recorder = &mut *self.recorder;
        // SAFETY: codes live as long as the process.
        let code = unsafe { &mut *frame.code };
        recorder.tell_count(code);
        let number = recorder.function(code);
        recorder.events += 1;
        let mut values = [0; 16];
        let mut more = Vec::new();
        for (at, slot) in code.slots.iter().take(code.parameters as usize).enumerate() {
            // SAFETY: the frame is at its beginning, its arguments are bound.
            let value = unsafe {
                recorder.value(slot.name_value(&recorder.layout, frame.frame), slot.weight)
            };
            match values.get_mut(at) {
                Some(place) => *place = value,
                None => more.push(value),
            }
        }
        recorder.select(thread);
        frame.call = Some(recorder.calls);
        recorder.calls += 1;
        recorder.stream.byte(op::CALL);
        recorder.stream.number(u64::from(number));
        recorder.stream.ticks();
        let values = values.iter().take(code.parameters as usize).chain(&more);
        values.for_each(|it| recorder.stream.number(u64::from(*it)));
    }

    /// Asks `plan.py` about a code object that was not met before; nothing if it is not to be recorded.
    #[cold]
    unsafe fn discovered(&mut self, object: Obj) -> Option<*mut Code> {
        unsafe {
            // Python code runs here, and other threads meanwhile; no record is half-written.
            let plan = Held::new(ffi::PyObject_CallOneArg(self.recorder.discover, object))?;
            let recorder = recorder()?;
            if let Some(code) = recorder.codes.get_mut(&(object as usize)) {
                return Some(&raw mut **code);
            }
            if plan.get() == &raw mut ffi::_Py_NoneStruct {
                return None;
            }
            let mut code = Code::read(object, plan.get())?;
            code.level = recorder.first_level(&code);
            let place = recorder.codes.entry(object as usize).or_insert_with(|| Box::new(code));
            Some(&raw mut **place)
        }
    }

    /// The thread that this is, which may be new.
    unsafe fn thread(&mut self) -> Option<*mut Thread> {
        let id = || unsafe { ffi::PyThreadState_GetID(self.state) };
        if let Some(known) = self.recorder.threads.get_mut(&(self.state as usize)) {
            // Where a thread ended another may have its place.
            if !known.stack.is_empty() || known.id == id() {
                return Some(&raw mut **known);
            }
        }
        let id = id();
        // SAFETY: as in `discovered`.
        let name = unsafe {
            let described = Held::new(ffi::PyObject_CallNoArgs(self.recorder.describe_thread));
            described.and_then(|it| crate::plan::text(it.get())).unwrap_or_default()
        };
        let recorder = &mut *self.recorder;
        let number = recorder.threads_seen;
        recorder.threads_seen += 1;
        recorder.stream.byte(op::THREAD);
        recorder.stream.number(u64::from(number));
        recorder.stream.text(&name);
        let thread = Thread { id, number, stack: Vec::new(), flying: 0, task: 0 };
        recorder.threads.insert(self.state as usize, Box::new(thread));
        recorder.threads.get_mut(&(self.state as usize)).map(|it| &raw mut **it)
    }

    /// Tells the task where a coroutine goes on, or where none does any more.
    unsafe fn task(&mut self, thread: &mut Thread, code: &Code) {
        if code.flags & ASYNC == 0 && (thread.task == 0 || !thread.stack.is_empty()) {
            return;
        }
        unsafe {
            let recorder = &mut *self.recorder;
            let Some(found) = Held::new(ffi::PyObject_CallNoArgs(recorder.current_task)) else {
                return;
            };
            let (mut task, mut name) = (0, Vec::new());
            if found.get() != &raw mut ffi::_Py_NoneStruct {
                let object = ffi::PyTuple_GetItem(found.get(), 0);
                let kind = ffi::kind(object);
                let about = recorder.objects.kind(kind);
                task = recorder.objects.number(object, kind, &*about);
                name = crate::plan::text(ffi::PyTuple_GetItem(found.get(), 1)).unwrap_or_default();
            }
            if task != thread.task {
                thread.task = task;
                let name = recorder.string(&name);
                recorder.select(thread.number);
                recorder.stream.byte(op::TASK);
                recorder.stream.number(task);
                recorder.stream.number(u64::from(name));
            }
        }
    }

    /// Nothing where the lines of this function are not kept any more.
    #[inline]
    unsafe fn line(&mut self) -> Option<()> {
        unsafe {
            let Some((thread, top)) = self.top() else { return Some(()) };
            let (thread, top) = (&mut *thread, &mut *top);
            thread.flying = 0;
            let code = &*top.code;
            if top.level < 2 {
                return (code.level == 2 || code.is_focused).then_some(());
            }
            let unit = self.recorder.layout.unit(self.running, code.object);
            let told = match code.segment(unit) {
                Some(_) => 0,
                None => self.told_line(),
            };
            self.recorder.line(thread.number, top, unit, told);
            Some(())
        }
    }

    unsafe fn told_line(&self) -> u32 {
        let line = self.arguments.get(1).map_or(0, |it| unsafe { ffi::PyLong_AsLong(*it) });
        u32::try_from(line).unwrap_or(0)
    }

    unsafe fn returned(&mut self) {
        unsafe { self.leave(op::RETURN, false, 0) };
    }

    unsafe fn unwound(&mut self) {
        unsafe {
            let exception = self.arguments.get(2).map_or(0, |it| *it as usize);
            self.leave(op::UNWIND, false, exception);
        }
    }

    unsafe fn yielded(&mut self) {
        unsafe { self.leave(op::YIELD, true, 0) };
    }

    unsafe fn leave(&mut self, how: u8, is_kept: bool, flying: usize) {
        unsafe {
            let Some((thread, top)) = self.top() else { return };
            let (thread, top) = (&mut *thread, &mut *top);
            thread.flying = flying;
            let recorder = &mut *self.recorder;
            if top.level > 0 {
                // The line of a `yield` goes on when the frame does.
                if !is_kept {
                    recorder.catch_up(thread.number, top);
                    recorder.finish(thread.number, top, None);
                }
                let told = self.arguments.get(2).copied().unwrap_or(std::ptr::null_mut());
                let value = recorder.plain(told);
                recorder.select(thread.number);
                recorder.stream.byte(how);
                recorder.stream.number(u64::from(value));
                recorder.stream.ticks();
                recorder.events += 1;
            }
            let Some(frame) = thread.stack.pop() else { return };
            if is_kept {
                recorder.kept.insert(frame.frame as usize, frame);
            } else {
                recorder.forget_containers(&frame);
            }
        }
    }

    unsafe fn resumed(&mut self) {
        unsafe {
            let Some(mut frame) = self.recorder.kept.remove(&(self.running as usize)) else {
                return;
            };
            let Some(thread) = self.thread() else { return };
            let thread = &mut *thread;
            if frame.level > 0 {
                self.task(thread, &*frame.code);
                match frame.call {
                    Some(call) => {
                        let recorder = &mut *self.recorder;
                        recorder.select(thread.number);
                        recorder.stream.byte(op::RESUME);
                        recorder.stream.number(recorder.calls - call);
                        recorder.stream.ticks();
                    }
                    // It began before the fork, in another stream.
                    None => self.call(thread.number, &mut frame),
                }
            }
            thread.stack.push(frame);
        }
    }

    unsafe fn raised(&mut self, is_again: bool) {
        unsafe {
            let Some((thread, top)) = self.top() else { return };
            let (thread, top) = (&mut *thread, &mut *top);
            let Some(exception) = self.arguments.get(2).copied() else { return };
            if self.is_end_of_iterator(&*top.code, exception) {
                return;
            }
            top.is_broken = true;
            let flying = std::mem::take(&mut thread.flying);
            let begins = !is_again && begins_here(exception);
            if top.level == 0 || (flying == exception as usize && !is_again && !begins) {
                return;
            }
            if begins {
                self.recorder.objects.begins(exception);
            }
            self.about(thread.number, top, op::RAISE, exception);
            self.recorder.objects.is_raised(exception);
        }
    }

    /// Whether a `for`, an `await` or an `async for` just learned that there is no more, from no code of the program's.
    unsafe fn is_end_of_iterator(&self, code: &Code, exception: Obj) -> bool {
        unsafe {
            let kind = ffi::kind(exception);
            let is_async = kind == ffi::PyExc_StopAsyncIteration;
            if kind != ffi::PyExc_StopIteration && !is_async {
                return false;
            }
            let unit = self.recorder.layout.unit(self.running, code.object) as u32;
            let found = code.iterates.binary_search_by_key(&unit, |it| it >> 1);
            let found = found.ok().and_then(|at| code.iterates.get(at));
            match (found, is_async) {
                (Some(place), true) => place & 1 == 1 && begins_here(exception),
                (found, _) => found.is_some(),
            }
        }
    }

    unsafe fn handled(&mut self) {
        unsafe {
            let Some((thread, top)) = self.top() else { return };
            let (thread, top) = (&mut *thread, &mut *top);
            if let (Some(exception), 1..) = (self.arguments.get(2).copied(), top.level)
                && !self.is_end_of_iterator(&*top.code, exception)
            {
                self.about(thread.number, top, op::HANDLED, exception);
            }
        }
    }

    unsafe fn about(&mut self, thread: u32, top: &mut Frame, how: u8, exception: Obj) {
        unsafe {
            let recorder = &mut *self.recorder;
            recorder.catch_up(thread, top);
            let value = recorder.plain(exception);
            recorder.select(thread);
            if top.level == 1 {
                let code = &*top.code;
                let unit = recorder.layout.unit(self.running, code.object);
                let line = ffi::PyCode_Addr2Line(code.object, (unit * 2) as i32);
                recorder.stream.byte(op::LINE_AT);
                recorder.stream.number(u64::from(line.unsigned_abs()));
            }
            recorder.stream.byte(how);
            recorder.stream.number(u64::from(value));
            recorder.events += 1;
        }
    }
}

/// Whether its way so far is this frame alone. Most exceptions die young, and the next one is built at their address.
unsafe fn begins_here(exception: Obj) -> bool {
    unsafe {
        let Some(traceback) = Held::new(ffi::PyException_GetTraceback(exception)) else {
            return false;
        };
        let next = ffi::PyObject_GetAttrString(traceback.get(), c"tb_next".as_ptr());
        Held::new(next).is_some_and(|it| it.get() == &raw mut ffi::_Py_NoneStruct)
    }
}

/// What follows is of the thread that asks, if it is known.
pub(crate) unsafe fn on_this_thread(recorder: &mut Recorder) {
    let state = unsafe { ffi::PyThreadState_Get() };
    if let Some(number) = recorder.threads.get(&(state as usize)).map(|it| it.number)
        && recorder.stream.is_open()
    {
        recorder.select(number);
    }
}

/// The child of a fork: one thread is left, in a stream of its own that begins with the frames that are open.
pub(crate) unsafe fn in_child(recorder: &mut Recorder, process: &[u8]) -> bool {
    unsafe {
        recorder.stream.forget();
        let is_lines = recorder.began_with_lines;
        for code in recorder.codes.values_mut() {
            (code.calls, code.uncounted) = (0, 0);
            code.level = if is_lines || code.is_focused { 2 } else { 1 };
            code.events.set(0);
        }
        (recorder.events, recorder.lines, recorder.is_full) = (0, is_lines, false);
        let state = ffi::PyThreadState_Get();
        let open = recorder.threads.remove(&(state as usize));
        recorder.threads.clear();
        recorder.threads_seen = 0;
        recorder.at_thread = 0;
        for frame in recorder.kept.values_mut() {
            frame.call = None;
            frame.restart();
        }
        if !recorder.begin(process) {
            return false;
        }
        let running = recorder.layout.running(state);
        let mut event = Event { recorder, state, running, arguments: &[] };
        let Some(thread) = event.thread() else { return false };
        let open = open.map(|it| it.stack).unwrap_or_default();
        for mut frame in open {
            frame.restart();
            if frame.level > 0 {
                event.call((*thread).number, &mut frame);
            }
            (*thread).stack.push(frame);
        }
        event.recorder.stream.flush();
        true
    }
}
