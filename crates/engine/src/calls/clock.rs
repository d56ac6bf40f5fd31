//! Times as the wire has them: seconds since 1970, with microseconds.

use jiff::Timestamp;

pub(crate) fn now() -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "microseconds of this century fit")]
    let micros = micros() as f64;
    micros / 1e6
}

pub(crate) fn micros() -> i64 {
    Timestamp::now().as_microsecond()
}
