use super::*;

fn joined(modules: &[(&str, &str)]) -> Result<String, BundleError> {
    join("app.js", |name| {
        let found = modules.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| *text)
    })
}

#[test]
fn modules_are_joined_once_in_dependency_order() {
    let script = joined(&[
        ("app.js", "import { card } from './card.js';\nimport { h } from './dom.js';\n\nh(card);\n"),
        (
            "card.js",
            "// A card.\nimport { h } from './dom.js';\n\n/** The\n *  card. */\nexport const card = h('p'); // kept\n",
        ),
        (
            "dom.js",
            "export function h(tag) {\n  return tag;\n}\nexport class Box {}\nexport async function later() {}\n",
        ),
    ]);
    insta::assert_snapshot!(script.unwrap(), @"
    // dom.js
    const $dom = (() => {
    function h(tag) {
    return tag;
    }
    class Box {}
    async function later() {}
    return { h, Box, later };
    })();

    // card.js
    const $card = (() => {
    const { h } = $dom;
    const card = h('p'); // kept
    return { card };
    })();

    // app.js
    const $app = (() => {
    const { card } = $card;
    const { h } = $dom;
    h(card);
    return {  };
    })();
    ");
}

#[test]
fn unsupported_lines_are_errors() {
    for line in [
        "import './side.js';",
        "import all from './dom.js';",
        "import * as dom from './dom.js';",
        "import { a as b } from './dom.js';",
        "import { a } from '../dom.js';",
        "import { a } from 'dom';",
        "import {",
        "export default 1;",
        "export { a };",
        "export const { a } = b;",
        "export let a = 1;",
        "const a = await import('./dom.js');",
    ] {
        let odd = joined(&[("app.js", line), ("dom.js", "")]).unwrap_err();
        assert!(matches!(odd, BundleError::UnsupportedLine { .. }), "{line}: {odd:?}");
    }
}

#[test]
fn missing_modules_and_cycles_are_errors() {
    let lost = joined(&[("app.js", "import { a } from './gone.js';")]);
    assert_eq!(lost, Err(BundleError::Missing("gone.js".to_owned())));
    let circle =
        joined(&[("app.js", "import { a } from './dom.js';"), ("dom.js", "import { b } from './app.js';")]);
    assert_eq!(circle, Err(BundleError::Cycle("app.js".to_owned())));
}

#[test]
fn stylesheet_loses_comments_and_needless_blanks_only() {
    let text = "/* Cards */\n.card, .row > :first-child {\n  margin: 0 auto; /* kept */\n}\n\n/* Over\n   lines */\n@media print {\n  a { color: red; }\n  b::after { content: \"a: { b, c; }\"; }\n}\n";
    assert_eq!(
        strip_stylesheet(text),
        ".card,.row > :first-child{\nmargin:0 auto;/* kept */\n}\n@media print{\na{color:red}\nb::after{content:\"a: { b, c; }\"}\n}\n"
    );
}
