use super::*;

#[test]
fn items_below_a_file_name_the_file() {
    let message = "All clean. Here's a summary of the changes:\n\n**`src/list.rs`**\n- Added `Cursor` import\n\
        - Wrapped the page in a cursor that keeps its place (line 31)\n\n**`src/row.rs`**: Replaced the counter \
        with the index of the row.\n\nAll 12 tests pass.";
    assert_eq!(
        items(message),
        [
            "`list.rs`: Wrapped the page in a cursor that keeps its place",
            "`row.rs`: Replaced the counter with the index of the row."
        ]
    );
}

#[test]
fn numbered_labels_are_taken_off() {
    let message = "Both fixes are in place:\n\n**Fix 1 — `list.rs`**: Swapped the order of the filters, so that \
        the cheap one runs first.\n\n**Fix 2 — `row.rs`**: Changed the key of a row to its number.";
    assert_eq!(
        items(message),
        [
            "`list.rs`: Swapped the order of the filters, so that the cheap one runs first.",
            "`row.rs`: Changed the key of a row to its number."
        ]
    );
}

#[test]
fn answers_and_offers_are_no_report() {
    for message in [
        "The list is sorted by date. Would you like me to change that?",
        "You can now run the importer.",
        "All tests pass and lint is clean.",
        "Next steps:\n- Added cursors need a test\n",
    ] {
        assert_eq!(items(message), Vec::<String>::new(), "{message}");
    }
}

#[test]
fn lead_is_told_with_its_list() {
    let message = "Updated. The note now describes a migration with:\n\n- Reads of both formats\n        - Writes of the new format only\n";
    assert_eq!(
        items(message),
        ["The note now describes a migration: Reads of both formats; Writes of the new format only"]
    );
}

#[test]
fn numbered_changes_are_named_by_their_headings() {
    let message = "Both changes are in place:\n\n**Change 1 — Read the cursor again after a reload** (`list.rs:18`):\n        - Imports `read_cursor` from the list module\n\n**Change 2 — Warn about rows without a number**:\n        - Scans the rows for missing numbers\n";
    assert_eq!(items(message), ["Read the cursor again after a reload", "Warn about rows without a number"]);
}

#[test]
fn fields_and_prospects_are_no_report() {
    for message in [
        "Area: desktop\nCreated: three days ago in the list\n",
        "The second wave can now build on these tables.",
        "Or use port 8080, because the server is now configured to allow it.",
    ] {
        assert_eq!(items(message), Vec::<String>::new(), "{message}");
    }
}

#[test]
fn label_before_the_fix_is_taken_off() {
    let message =
        "All 12 tests pass. The fix is simple: changed the mode of the sandbox to `write` in `runner.rs`.";
    assert_eq!(items(message), ["Changed the mode of the sandbox to `write` in `runner.rs`."]);
    assert_eq!(
        items("**Summary**: Added a hook that clears the basket."),
        ["Added a hook that clears the basket."]
    );
}

#[test]
fn record_is_told_by_its_telling_fields() {
    let message = "Step 4.1 was inserted after step 4:\n\n- **Description:** parcels are weighed at the desk\n\
        - **Directory:** `plans/4.1/`\n- **Status:** not planned yet\n- **Research flag:** needs a spike";
    assert_eq!(items(message), ["Step 4.1 was inserted after step 4: parcels are weighed at the desk"]);
}
