//! The compiled half of the Python recorder: it writes what `sys.monitoring` tells.
//!
//! `clients/python/record` decides what is recorded and reads plans from bytecode; this library keeps frames,
//! reads values and writes the stream of `docs/contract/recording.md`. It depends on nothing, so `rustc` alone
//! builds it, and links nothing, so one file serves Python 3.12 to 3.14.
//!
//! Nearly everything here is `unsafe`: it is C API under the interpreter's lock. Three rules make it sound.
//! Every entry is a call from Python, so the lock is held. What is borrowed from a frame is used before
//! anything runs that could release it. No record is half-written when Python code may run. A panic ends the
//! recording and never the program, so it unwinds to `events::enter`.

mod events;
mod ffi;
mod frames;
mod objects;
mod plan;
mod raw;
mod recorder;
mod said;
mod secrets;
mod sha256;
mod stream;
mod table;
mod tail;
mod touches;
mod values;

use std::{
    ffi::{OsString, c_char},
    os::unix::ffi::OsStringExt as _,
    path::PathBuf,
    sync::OnceLock,
};

use crate::{
    ffi::{MethodDef, ModuleDef, Obj},
    raw::Layout,
    recorder::{Limits, Means, Recorder, keep, op},
    secrets::Secrets,
};

static LAYOUT: OnceLock<Layout> = OnceLock::new();

const fn method(name: *const c_char, call: ffi::FastCall) -> MethodDef {
    MethodDef { name, call: Some(call), flags: ffi::METH_FASTCALL, doc: std::ptr::null() }
}

static METHODS: [MethodDef; 18] = [
    method(c"check".as_ptr(), check),
    method(c"open".as_ptr(), open),
    method(c"begin".as_ptr(), begin),
    method(c"child".as_ptr(), child),
    method(c"told".as_ptr(), told),
    method(c"forked".as_ptr(), forked),
    method(c"flush".as_ptr(), flush),
    method(c"weight".as_ptr(), weight),
    method(c"start".as_ptr(), events::start),
    method(c"line".as_ptr(), events::line),
    method(c"returned".as_ptr(), events::returned),
    method(c"yielded".as_ptr(), events::yielded),
    method(c"resumed".as_ptr(), events::resumed),
    method(c"unwound".as_ptr(), events::unwound),
    method(c"raised".as_ptr(), events::raised),
    method(c"raised_again".as_ptr(), events::raised_again),
    method(c"handled".as_ptr(), events::handled),
    MethodDef { name: std::ptr::null(), call: None, flags: 0, doc: std::ptr::null() },
];

static mut MODULE: ModuleDef = ModuleDef {
    base: [1, 0, 0, 0, 0],
    name: c"holdpoint_record".as_ptr(),
    doc: std::ptr::null(),
    size: -1,
    methods: METHODS.as_ptr(),
    slots: std::ptr::null(),
    traverse: std::ptr::null(),
    clear: std::ptr::null(),
    free: std::ptr::null(),
};

/// What Python calls when it loads the library.
#[unsafe(no_mangle)]
pub extern "C" fn PyInit_holdpoint_record() -> Obj {
    // What goes wrong here is not the program's to print.
    std::panic::set_hook(Box::new(|_| {}));
    // SAFETY: called by the interpreter, with the lock held.
    unsafe { ffi::PyModule_Create2(&raw mut MODULE, ffi::API_VERSION) }
}

unsafe fn slice<'a>(arguments: *const Obj, count: isize) -> &'a [Obj] {
    unsafe { std::slice::from_raw_parts(arguments, count.cast_unsigned()) }
}

unsafe fn boolean(is: bool) -> Obj {
    unsafe { ffi::PyLong_FromLongLong(i64::from(is)) }
}

/// `check(it)`, called by a function whose first local is `it`: whether its frames can be read.
unsafe extern "C" fn check(_: Obj, arguments: *const Obj, count: isize) -> Obj {
    unsafe {
        let found = slice(arguments, count).first().and_then(|it| Layout::check(*it));
        let is_found = found.is_some();
        if let Some(layout) = found {
            LAYOUT.get_or_init(|| layout);
        }
        ffi::PyErr_Clear();
        boolean(is_found)
    }
}

/// `open(settings)`: a tuple, in the order in which it is read here.
unsafe extern "C" fn open(_: Obj, arguments: *const Obj, count: isize) -> Obj {
    unsafe {
        let opened = slice(arguments, count).first().and_then(|it| settings(*it));
        let is_open = opened.is_some();
        if let Some(recorder) = opened {
            events::install(recorder);
        }
        ffi::PyErr_Clear();
        boolean(is_open)
    }
}

unsafe fn settings(from: Obj) -> Option<Recorder> {
    unsafe {
        let layout = *LAYOUT.get()?;
        let part = |at| {
            let found = ffi::PyTuple_GetItem(from, at);
            (!found.is_null()).then_some(found)
        };
        let texts = |at| -> Option<Vec<String>> {
            let all = part(at)?;
            (0..ffi::PyTuple_Size(all))
                .map(|at| plan::text(ffi::PyTuple_GetItem(all, at)))
                .map(|it| it.and_then(|it| String::from_utf8(it).ok()))
                .collect()
        };
        let number = |at| u64::try_from(ffi::PyLong_AsLong(part(at)?)).ok();
        let folder = PathBuf::from(OsString::from_vec(plan::bytes(part(0)?)));
        let key = plan::bytes(part(4)?);
        let secrets = Secrets::new(&texts(1)?, &texts(2)?, texts(3)?, key, number(5)? != 0);
        let limits = Limits {
            events: number(7)?,
            bytes: number(8)?,
            whole_calls: number(9)?,
            calls: number(10)?,
            frame_lines: u32::try_from(number(11)?).ok()?,
            has_tail: number(16)? != 0,
        };
        let means = Means {
            discover: keep(part(12)?),
            describe_thread: keep(part(13)?),
            current_task: keep(part(14)?),
            disable: keep(part(15)?),
        };
        Some(Recorder::new(layout, folder, secrets, limits, number(6)? != 0, means))
    }
}

/// `begin(process)`: whether the stream could be begun.
unsafe extern "C" fn begin(_: Obj, arguments: *const Obj, count: isize) -> Obj {
    unsafe {
        let process = slice(arguments, count).first().and_then(|it| plan::text(*it));
        let is_begun = match (events::recorder(), process) {
            (Some(recorder), Some(process)) => recorder.begin(&process),
            _ => false,
        };
        boolean(is_begun)
    }
}

/// `child(process)`: the child of a fork begins a stream of its own.
unsafe extern "C" fn child(_: Obj, arguments: *const Obj, count: isize) -> Obj {
    unsafe {
        let process = slice(arguments, count).first().and_then(|it| plan::text(*it));
        let is_begun = match (events::recorder(), process) {
            (Some(recorder), Some(process)) => events::in_child(recorder, &process),
            _ => false,
        };
        boolean(is_begun)
    }
}

/// `told(op, text)`: a note, the beginning or end of a test, the end.
unsafe extern "C" fn told(_: Obj, arguments: *const Obj, count: isize) -> Obj {
    unsafe {
        if let ([what, text], Some(recorder)) = (slice(arguments, count), events::recorder())
            && let Some(text) = plan::text(*text)
        {
            match u8::try_from(ffi::PyLong_AsLong(*what)) {
                Ok(op::END) => recorder.end(&text),
                Ok(op::TEST) => {
                    events::on_this_thread(recorder);
                    recorder.told(op::TEST, &text);
                }
                Ok(what) => recorder.told(what, &text),
                Err(_) => {}
            }
        }
        ffi::none()
    }
}

/// `forked(pid)`: a child was made here.
unsafe extern "C" fn forked(_: Obj, arguments: *const Obj, count: isize) -> Obj {
    unsafe {
        if let ([pid], Some(recorder)) = (slice(arguments, count), events::recorder())
            && recorder.stream.is_open()
        {
            events::on_this_thread(recorder);
            recorder.stream.byte(op::FORKED);
            recorder.stream.number(ffi::PyLong_AsLong(*pid).cast_unsigned());
        }
        ffi::none()
    }
}

unsafe extern "C" fn flush(_: Obj, _: *const Obj, _: isize) -> Obj {
    unsafe {
        if let Some(recorder) = events::recorder() {
            recorder.stream.flush();
        }
        ffi::none()
    }
}

/// `weight(name)`: what a name says of its value, 0 nothing, 1 perhaps a secret, 2 a secret.
unsafe extern "C" fn weight(_: Obj, arguments: *const Obj, count: isize) -> Obj {
    unsafe {
        let name = slice(arguments, count).first().and_then(|it| plan::text(*it));
        let name = name.map(|it| String::from_utf8_lossy(&it).into_owned());
        let weight = match (events::recorder(), name) {
            (Some(recorder), Some(name)) => recorder.secrets.weight(&name) as i64,
            _ => 0,
        };
        ffi::PyLong_FromLongLong(weight)
    }
}
