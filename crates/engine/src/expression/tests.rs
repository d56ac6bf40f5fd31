//! The languages' own rules, over a world of a few values.

use super::{tree::Tree, *};

/// `items` is an array of three, `name` a text of the program's, `boxed` a number in a box, `ghost` null.
struct Small;

impl World for Small {
    type Object = &'static str;
    type Type = String;

    fn grammar(&self) -> Grammar {
        Grammar::Java
    }

    async fn this(&self) -> Result<Operand<&'static str>, String> {
        Ok(Operand::Object("this"))
    }

    async fn named(&self, name: &str) -> Result<Option<Operand<&'static str>>, String> {
        Ok(match name {
            "n" => Some(Operand::Number(Numeric::I32(7))),
            "big" => Some(Operand::Number(Numeric::I64(5_000_000_000))),
            "yes" => Some(Operand::Bool(true)),
            "items" => Some(Operand::Object("items")),
            "name" => Some(Operand::Object("name")),
            "boxed" => Some(Operand::Object("boxed")),
            "ghost" => Some(Operand::Null),
            _ => None,
        })
    }

    async fn type_named(&self, name: &str) -> Result<Option<String>, String> {
        Ok(matches!(name, "Math" | "java.lang.Math").then(|| name.to_owned()))
    }

    async fn field(
        &self,
        of: &Operand<&'static str>,
        name: &str,
    ) -> Result<Operand<&'static str>, String> {
        match (of, name) {
            (Operand::Object("items"), "length") => Ok(Operand::Number(Numeric::I32(3))),
            (Operand::Null, _) => Err("NullPointerException: null".to_owned()),
            _ => Err(format!("UnknownName: {name}")),
        }
    }

    async fn static_field(
        &self,
        _: &String,
        name: &str,
    ) -> Result<Option<Operand<&'static str>>, String> {
        Ok((name == "PI").then_some(Operand::Number(Numeric::F64(3.0))))
    }

    async fn call(
        &self,
        of: Receiver<&'static str, String>,
        name: &str,
        arguments: Vec<Operand<&'static str>>,
    ) -> Result<Operand<&'static str>, String> {
        let of = match of {
            Receiver::Value(value) => self.text(&value).await?,
            Receiver::Type(name) => name,
            Receiver::Here => "here".to_owned(),
        };
        let mut texts = Vec::new();
        for it in &arguments {
            texts.push(self.text(it).await?);
        }
        Ok(Operand::Text(format!("{of}#{name}({})", texts.join(","))))
    }

    async fn create(
        &self,
        kind: String,
        _: Vec<Operand<&'static str>>,
    ) -> Result<Operand<&'static str>, String> {
        Ok(Operand::Text(format!("new {kind}")))
    }

    async fn element(
        &self,
        _: &Operand<&'static str>,
        at: &[Operand<&'static str>],
    ) -> Result<Operand<&'static str>, String> {
        Ok(at.first().cloned().unwrap_or(Operand::Null))
    }

    async fn is_a(&self, of: &Operand<&'static str>, kind: &str) -> Result<bool, String> {
        Ok(*of == Operand::Object("name") && kind == "String")
    }

    async fn same(
        &self,
        left: &Operand<&'static str>,
        right: &Operand<&'static str>,
    ) -> Result<bool, String> {
        Ok(left == right)
    }

    async fn unboxed(&self, of: Operand<&'static str>) -> Result<Operand<&'static str>, String> {
        Ok(if of == Operand::Object("boxed") { Operand::Number(Numeric::I32(40)) } else { of })
    }

    async fn text(&self, of: &Operand<&'static str>) -> Result<String, String> {
        Ok(match of {
            Operand::Nothing => "void".to_owned(),
            Operand::Null => "null".to_owned(),
            Operand::Bool(it) => it.to_string(),
            Operand::Char(it) => char::from_u32((*it).into()).unwrap().to_string(),
            Operand::Number(it) => it.text(),
            Operand::Text(it) => it.clone(),
            Operand::Object(it) => format!("<{it}>"),
        })
    }

    async fn is_text(&self, of: &Operand<&'static str>) -> Result<bool, String> {
        Ok(matches!(of, Operand::Text(_) | Operand::Object("name")))
    }

    async fn assign(
        &self,
        to: Assignee<&'static str, String>,
        value: Operand<&'static str>,
    ) -> Result<Operand<&'static str>, String> {
        let place = match to {
            Assignee::Named(name) => name,
            Assignee::Field(of, name) => format!("{of}.{name}"),
            Assignee::Static(of, name) => format!("{of}::{name}"),
            Assignee::Element(of, _) => format!("{of}[]"),
        };
        Ok(Operand::Text(format!("{place} := {}", self.text(&value).await?)))
    }
}

#[track_caller]
fn check(expression: &str, expected: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let found = runtime.block_on(async {
        let value = evaluate(&Small, &parse(expression, Grammar::Java)?).await?;
        Small.text(&value).await
    });
    assert_eq!(found.unwrap_or_else(|it| it), expected, "{expression}");
}

#[test]
fn signs_bind_as_the_language_says() {
    check("1 + 2 * 3", "7");
    check("(1 + 2) * 3", "9");
    check("10 - 4 - 3", "3");
    check("1 << 2 + 1", "8");
    check("n > 5 && n < 10 || ghost.x", "true");
    check("n == 7 ? \"seven\" : \"other\"", "seven");
    check("!yes == false", "true");
    check("-n % 4", "-3");
    check("~0 >>> 28", "15");
    check("1 | 2 ^ 3 & 2", "1");
}

#[test]
fn numbers_are_of_their_width() {
    check("2147483647 + 1", "-2147483648");
    check("2147483647 + 1L", "2147483648");
    check("big * 2", "10000000000");
    check("7 / 2", "3");
    check("7 / 2.0", "3.5");
    check("7 / 2f", "3.5");
    check("1 / 0", "ArithmeticException: / by zero");
    check("1.0 / 0", "Infinity");
    check("(int) 3.9", "3");
    check("(byte) 200", "-56");
    check("(char) 65", "A");
    check("'a' + 1", "98");
    check("0xff + 0b11 + 1_000", "1258");
    check("1e10", "1.0E10");
    check("0.1 + 0.2", "0.30000000000000004");
    check("-2147483648", "-2147483648");
    check("99999999999", "SyntaxError: `99999999999` is no number");
}

#[test]
fn texts_are_put_together_and_boxes_opened() {
    check("\"n=\" + n + 1", "n=71");
    check("n + 1 + \"\"", "8");
    check("\"a\\n\\u0041\"", "a\nA");
    check("boxed + 2", "42");
    check("boxed == 40", "true");
    check("name + null", "<name>null");
    check("ghost == null", "true");
    check("name != null", "true");
}

#[test]
fn names_are_values_types_or_parts_of_types() {
    check("items.length", "3");
    check("items[n - 5]", "2");
    check("Math.PI", "3.0");
    check("java.lang.Math.PI", "3.0");
    check("java.lang.Math.abs(-1)", "java.lang.Math#abs(-1)");
    check("total(1, \"b\")", "here#total(1,b)");
    check("this.total()", "<this>#total()");
    check("name.trim().length()", "<name>#trim()#length()");
    check("new Math(1)", "new Math");
    check("nope", "UnknownName: `nope` is no variable, field or loaded type here");
    check("a.b.c", "UnknownName: `a.b.c` is no variable, field or loaded type here");
    check("Math", "TypeMismatch: `Math` is a type, not a value");
    check("ghost.trim()", "NullPointerException: `trim` is called on null");
}

#[test]
fn kinds_are_asked_and_cast() {
    check("name instanceof String", "true");
    check("ghost instanceof String", "false");
    check("(String) name", "<name>");
    check("((String) name).length()", "<name>#length()");
    check("(List<String>) items", "ClassCastException: it is no `List`");
    check("(n) + 1", "8");
    check("(n)", "7");
}

#[test]
fn places_are_assigned() {
    check("n = 3", "n := 3");
    check("n += 3", "n := 10");
    check("this.total = n * 2", "this.total := 14");
    check("items[0] = 1", "items[] := 1");
    check("Math.x = 1", "Math::x := 1");
    check("1 = 2", "SyntaxError: only a variable, a field or an element can be assigned to");
}

#[test]
fn what_is_no_expression_says_why() {
    check("", "SyntaxError: it ends where a value is wanted");
    check("1 +", "SyntaxError: it ends where a value is wanted");
    check("1 2", "SyntaxError: a number is one too many");
    check("\"open", "SyntaxError: a text without its end");
    check("items.forEach(x -> x)", "Unsupported: the debugger does not evaluate lambdas");
    check("n++", "Unsupported: the debugger does not evaluate `++` and `--`; write `x += 1`");
    check("return n", "Unsupported: `return` begins a statement; pass an expression");
    check("# n", "SyntaxError: `#` means nothing here");
    check("f(1", "SyntaxError: it ends where `)` is wanted");
    check(&"(".repeat(5_000), "SyntaxError: more than 4096 bytes");
    check(&"(".repeat(500), "SyntaxError: deeper than 64 levels");
    check(&"1+".repeat(500), "SyntaxError: more than 64 in a row");
}

#[test]
fn c_sharp_has_words_of_its_own() {
    let tree = |text: &str| format!("{:?}", parse(text, Grammar::CSharp).unwrap());
    assert!(tree("a ?? b").contains("Either"));
    assert!(tree("a?.b").contains("unless_null: true"));
    assert!(tree("a is string").contains("IsA"));
    assert!(tree("a as Cart").contains("As"));
    assert!(tree("grid[1, 2]").contains("Index"));
    assert_eq!(parse("3000000000", Grammar::CSharp), Ok(Tree::Number(Numeric::U32(3_000_000_000))));
}
