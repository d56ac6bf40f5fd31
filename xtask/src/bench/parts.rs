//! `--only PART,…` and `--quick`, for benches whose parts take minutes each.

use anyhow::{Context, Result, bail};

/// What is asked for of a bench.
pub(super) struct Parts {
    names: Vec<String>,
    /// Each for a short while.
    pub(super) is_quick: bool,
}

impl Parts {
    /// The parts that are asked for, all of `known` when none is.
    pub(super) fn chosen(options: &[String], known: &[&str]) -> Result<Parts> {
        let (mut names, mut is_quick) = (Vec::new(), false);
        let mut options = options.iter();
        while let Some(option) = options.next() {
            match option.as_str() {
                "--quick" => is_quick = true,
                "--only" => {
                    let said = options.next().context("`--only` names no part")?;
                    names.extend(said.split(',').map(str::to_owned));
                }
                other => bail!("unexpected argument `{other}`"),
            }
        }
        if let Some(unknown) = names.iter().find(|it| !known.contains(&it.as_str())) {
            bail!("no part `{unknown}`\nhint: the parts are {}", known.join(", "));
        }
        if names.is_empty() {
            names = known.iter().map(|it| (*it).to_owned()).collect();
        }
        Ok(Parts { names, is_quick })
    }

    pub(super) fn has(&self, part: &str) -> bool {
        self.names.iter().any(|it| it == part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_parts_all_of_them_or_none_that_is_known() {
        let chosen = |said: &str| {
            let options: Vec<String> = said.split_whitespace().map(str::to_owned).collect();
            Parts::chosen(&options, &["a", "b"])
        };
        let all = chosen("").unwrap();
        assert!(all.has("a") && all.has("b") && !all.is_quick);
        let one = chosen("--quick --only b").unwrap();
        assert!(!one.has("a") && one.has("b") && one.is_quick);
        assert!(chosen("--only c").is_err() && chosen("--only").is_err());
    }
}
