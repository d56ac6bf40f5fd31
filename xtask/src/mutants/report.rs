//! The table at the end, and who survived.

use super::list::Core;
use super::trial::Verdict;

/// A core, and of each of its mutants the line and what became of it.
pub(super) type Tried<'a> = (&'a Core, Vec<(usize, Verdict)>);

pub(super) fn is_failed(core: &Core, verdicts: &[(usize, Verdict)]) -> bool {
    core.mutants.iter().zip(verdicts).any(|(mutant, (_, verdict))| match verdict {
        Verdict::DoesNotCompile => true,
        Verdict::Survived => mutant.excused.is_none(),
        // What is excused and killed needs its excuse no longer.
        _ => mutant.excused.is_some(),
    })
}

pub(super) fn render(tried: &[Tried]) -> String {
    let mut text = String::from("core        mutants  killed  survived  excused\n");
    for (core, verdicts) in tried {
        let survived = verdicts.iter().filter(|(_, it)| *it == Verdict::Survived).count();
        let broken = verdicts.iter().filter(|(_, it)| *it == Verdict::DoesNotCompile).count();
        let excused = core.mutants.iter().filter(|it| it.excused.is_some()).count();
        let (all, killed) = (verdicts.len(), verdicts.len() - survived - broken);
        text += &format!("{:10}{all:>9}{killed:>8}{survived:>10}{excused:>9}\n", core.name);
    }
    for (core, verdicts) in tried {
        if verdicts.iter().all(|(_, it)| *it == Verdict::DoesNotCompile) {
            text +=
                &format!("\n{}: its crate does not compile with all mutants in it\n", core.name);
            continue;
        }
        for (index, (mutant, (line, verdict))) in core.mutants.iter().zip(verdicts).enumerate() {
            let excuse = mutant.excused.as_deref();
            let note = match (verdict, excuse) {
                (Verdict::Survived, None) => format!("SURVIVED: {}", mutant.hurts),
                (Verdict::Survived, Some(why)) => format!("survived, excused: {why}"),
                (_, Some(_)) => format!("{verdict}, though it is excused: drop the excuse"),
                (_, None) => continue,
            };
            text += &format!(
                "\n{} {}:{line}\n  - {}\n  + {}\n  {note}\n",
                core.mutant_name(index),
                mutant.file,
                indented(&mutant.find),
                indented(&mutant.with),
            );
        }
    }
    text
}

fn indented(code: &str) -> String {
    code.lines().map(str::trim).collect::<Vec<_>>().join("\n    ")
}

#[cfg(test)]
mod tests {
    use super::super::list::Mutant;
    use super::*;

    fn core(excused: Option<&str>) -> Core {
        let mutant = Mutant {
            file: "crates/p/src/count.rs".into(),
            after: None,
            find: "a + 1".into(),
            with: "a".into(),
            hurts: "one is missing".into(),
            excused: excused.map(str::to_owned),
        };
        Core { name: "count".into(), mutants: vec![mutant], ..Core::default() }
    }

    #[test]
    fn a_survivor_fails_unless_it_is_excused() {
        let fails = |excused, verdict| is_failed(&core(excused), &[(7, verdict)]);
        assert!(fails(None, Verdict::Survived));
        assert!(!fails(Some("it is the same"), Verdict::Survived));
        assert!(fails(Some("it is the same"), Verdict::KilledBy(1)));
        assert!(!fails(None, Verdict::KilledBy(1)) && !fails(None, Verdict::TimedOut));
        assert!(fails(Some("it is the same"), Verdict::DoesNotCompile));
    }

    #[test]
    fn the_table_and_who_survived() {
        let core = core(None);
        let text = render(&[(&core, vec![(7, Verdict::Survived)])]);
        let expected = "\
core        mutants  killed  survived  excused
count             1       0         1        0

count-1 crates/p/src/count.rs:7
  - a + 1
  + a
  SURVIVED: one is missing
";
        assert_eq!(text, expected);
        let text = render(&[(&core, vec![(7, Verdict::KilledBy(2))])]);
        assert!(text.ends_with("count             1       1         0        0\n"), "{text}");
    }
}
