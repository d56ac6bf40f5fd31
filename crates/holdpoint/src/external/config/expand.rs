//! `${VAR}` and `${VAR:-default}` in the texts of a configuration. Pure: the environment is asked by the caller.

/// The text with values in place of names. A name that has neither a value nor a default is an error.
pub(super) fn expand(text: &str, value: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        out += before;
        let Some((inside, after)) = after.split_once('}') else {
            return Err("`${` without its `}`".to_owned());
        };
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        // As in a shell: what is empty counts as not set where there is a default.
        let found = value(name).filter(|it| default.is_none() || !it.is_empty());
        match (found, default) {
            (Some(found), _) => out += &found,
            (None, Some(default)) => out += default,
            (None, None) => {
                return Err(format!(
                    "the environment has no `{name}`; `${{{name}:-…}}` gives a default"
                ));
            }
        }
        rest = after;
    }
    Ok(out + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<String, String> {
        expand(text, |name| match name {
            "TOKEN" => Some("t".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        })
    }

    #[test]
    fn names_become_values() {
        assert_eq!(of("Bearer ${TOKEN}!").unwrap(), "Bearer t!");
        assert_eq!(of("${NONE:-a:-b}${EMPTY:-c}${EMPTY}").unwrap(), "a:-bc");
        assert_eq!(of("$TOKEN $ {x}").unwrap(), "$TOKEN $ {x}");
        assert!(of("${NONE}").unwrap_err().contains("no `NONE`"));
        assert!(of("${TOKEN").unwrap_err().contains("without"));
    }
}
