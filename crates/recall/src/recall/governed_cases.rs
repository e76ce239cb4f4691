//! Rules, facts and causes of an invented project, the prompts that each of them governs in other
//! words, and prompts that none of them governs although they share words with one.

/// A stored memory and a prompt that needs it.
pub(super) struct GovernedPrompt {
    pub kind: &'static str,
    /// The memory's title: the user's sentence, or the agent's for a cause.
    pub memory: &'static str,
    pub narrative: &'static str,
    pub prompt: &'static str,
}

pub(super) const fn rule(memory: &'static str, prompt: &'static str) -> GovernedPrompt {
    GovernedPrompt { kind: "decision", memory, narrative: "", prompt }
}

pub(super) const fn fact(memory: &'static str, prompt: &'static str) -> GovernedPrompt {
    GovernedPrompt { kind: "discovery", memory, narrative: "", prompt }
}

pub(super) const fn cause(
    memory: &'static str,
    narrative: &'static str,
    prompt: &'static str,
) -> GovernedPrompt {
    GovernedPrompt { kind: "bugfix", memory, narrative, prompt }
}

#[rustfmt::skip]
pub(super) const GOVERNED: &[GovernedPrompt] = &[
    rule("Never deploy between 1 and 3 at night: the bank settles its batches then", "can we deploy at 2?"),
    rule("Customer names and mail addresses never go into log lines", "log who signed up and with which email so that we can debug the registration"),
    rule("Migrations must be reversible: every up has a down", "write the migration that drops the legacy_orders column"),
    rule("Use pnpm in this repository, never npm or yarn", "install the date picker with npm please"),
    rule("Prices are integers in cents, never floats", "store the discounted price as a float in the basket"),
    rule("Nothing is merged to main on Fridays", "it's friday afternoon, merge the branch into main"),
    rule("Public endpoints need a rate limit before they ship", "ship the new public search endpoint"),
    rule("All dates in the API are UTC in ISO 8601", "return the booking date in the customer's local time from the API"),
    rule("Ask before adding a dependency; we keep the bundle under 300 kB", "add moment.js as a dependency for the date formatting"),
    rule("Feature flags are removed two weeks after the rollout", "the checkout flag has been rolled out for a month, what do we do with the flag?"),
    rule("Secrets come from the vault, never from .env files in the repository", "put the stripe secret key into the .env file"),
    rule("Backups are restored in a test every Monday", "when did we last test that a backup can be restored?"),
    rule("Error messages shown to customers never contain stack traces", "show the exception with its stack trace on the customer's error page"),
    rule("The mobile app supports iOS 15 and newer only", "do we have to support iPhones on iOS 13?"),
    rule("Tests must not call the network; use the recorded cassettes", "write a test that calls the real weather network service"),
    rule("Commit messages are written in English and in the imperative", "commit this with a german message"),
    rule("Images are served as WebP with a JPEG fallback", "export the hero images as png for the landing page"),
    rule("Deleting an account keeps invoices for ten years", "remove all data of a user including the invoices when the account is deleted"),
    rule("The staging database is wiped every Sunday night", "can I keep my test data in the staging database over the weekend?"),
    rule("Pull requests need two reviewers when they touch billing", "one approval is enough for the billing pull request, right?"),
    fact("Staging runs on stage-3.example.net behind the VPN", "which host does staging run on?"),
    fact("The finance team closes the books on the third working day", "when are the books closed by finance?"),
    fact("Our payment provider retries webhooks for 72 hours", "how long does the payment provider retry failed webhooks?"),
    fact("The printers in the warehouse only understand ZPL", "what label format do the warehouse printers need?"),
    fact("The search cluster has three nodes with 16 GB each", "how much memory do the search nodes have?"),
    fact("Integration tests are started with `make it`, they take eleven minutes", "how do I run the integration tests?"),
    fact("The legacy importer is owned by Team Harbor", "who owns the legacy importer?"),
    fact("Sandbox accounts of the bank are reset at 06:00", "at what time does the bank reset our sandbox accounts?"),
    fact("Support answers Tier 1 tickets within four hours", "what response time did we promise for tier 1 tickets?"),
    fact("The CDN caches assets for one hour, purge needs the ops key", "why is the old asset still delivered by the CDN, how long is it cached?"),
    cause("Customers were logged out because the session cookie was set for the wrong domain", "The cookie carried www. and the shop moved to the apex domain.", "customers are logged out again as soon as they open the shop"),
    cause("Orders were booked twice because the retry had no idempotency key", "The gateway timed out after the booking had been written.", "some orders are booked twice since yesterday"),
    cause("The nightly report was empty because the job ran before the export had finished", "It waits for the export's marker now.", "the nightly report came out empty this morning"),
    cause("Uploads over 5 MB failed because the proxy limits the body size", "client_max_body_size was raised to 50m.", "uploading a 12 MB photo fails"),
    cause("The build hung because the lock file pinned a package that was unpublished", "A fresh lock file fixed it.", "the build hangs while it resolves packages from the lock file"),
    cause("Emails arrived late because the queue worker was restarted by its memory limit", "The limit was raised and templates are streamed.", "our emails arrive hours late"),
    cause("Search returned no results for umlauts because the index was built without folding", "The index folds accents since.", "searching for names with umlauts returns no results"),
    cause("The map was blank in Safari because WebGL contexts were never released", "Contexts are destroyed with the view.", "in safari the map stays blank after some time"),
    cause("Currency rates were stale because the cache never expired on weekends", "The cache expires after a day at most.", "the currency rates shown on sunday are stale"),
    cause("Exports timed out because every row loaded its customer separately", "Customers are loaded in one query.", "the export times out for large customers"),
];

/// No stored memory governs these, though most share a word or a subject with one.
#[rustfmt::skip]
pub(super) const UNGOVERNED: &[&str] = &[
    "explain how a bloom filter works",
    "rename the variable price to amount in this function",
    "what is the difference between a map and a dictionary?",
    "add a dark mode switch to the settings page",
    "the button on the profile page is misaligned",
    "sort the imports of this file",
    "write a docstring for the parser",
    "why is my laptop fan so loud?",
    "split the component into smaller ones",
    "how do I undo my last commit?",
    "make the headline a bit larger",
    "generate five names for a coffee shop",
    "which port does the dev server listen on?",
    "add an index to the comments table",
    "translate the button labels into Spanish",
    "replace the carousel by a simple grid",
    "the tooltip flickers when the mouse leaves it",
    "convert this promise chain into async await",
    "show me the last three commits",
    "refactor the user service into two classes",
    "create an issue for the broken avatar upload preview",
    "profile the home page and tell me what is slow",
    "why does the type checker complain about this generic?",
    "bump the version to 2.4.0",
    "add a keyboard shortcut for the command palette",
    "let the table header stick to the top when scrolling",
    "write a regex for hexadecimal colours",
    "how many lines does the parser have?",
    "summarise what we did today",
    "put the filter chips above the list",
    "draw the state machine of the wizard as ascii art",
    "remove the unused css classes",
    "what does this shell one-liner do?",
    "give the modal a close button",
    "use a set instead of a list here",
    "extract the magic numbers into constants",
    "does this library have types?",
    "animate the progress bar",
    "the spinner never stops on the report screen of the demo",
    "make the sidebar collapsible",
];

/// Words that fillers are composed of: unrelated work of the same kind of project.
#[rustfmt::skip]
pub(super) const FILLER_PARTS: [&[&str]; 4] = [
    &["Tightened", "Rewrote", "Moved", "Documented", "Simplified", "Split", "Cached", "Renamed", "Inlined", "Typed"],
    &["the avatar cropper", "the wizard's state", "the tooltip layer", "the tree view", "the drag handle", "the colour picker",
      "the breadcrumb", "the onboarding tour", "the sidebar", "the palette", "the calendar grid", "the comment thread",
      "the audit view", "the tag editor"],
    &["for touch screens", "to cut repaints", "after the design review", "behind one hook", "with a reducer", "for screen readers",
      "in the shared kit", "without inline styles", "for narrow windows", "with a story for each state"],
    &["and covered it with a snapshot.", "so that the bundle shrinks.", "because two copies had drifted apart."],
];
