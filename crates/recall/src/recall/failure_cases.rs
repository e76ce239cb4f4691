//! Failing commands of invented projects: the remedy that is stored, the output of the failure as it comes
//! back later, and outputs that no stored remedy is for.

/// A stored remedy and the later failure that needs it.
pub(super) struct StoredRemedy {
    pub title: &'static str,
    pub narrative: &'static str,
    pub output: &'static str,
}

pub(super) const fn remedy(
    title: &'static str,
    narrative: &'static str,
    output: &'static str,
) -> StoredRemedy {
    StoredRemedy { title, narrative, output }
}

#[rustfmt::skip]
pub(super) const REMEDIES: &[StoredRemedy] = &[
    remedy("`pnpm test` failed with \"Cannot find module 'sharp'\" until `pnpm rebuild sharp`", "The native part is not built after a Node upgrade.",
        "> vitest run\n\nError: Cannot find module 'sharp'\nRequire stack:\n- /home/kim/shop/src/thumbs.ts\n    at Module._resolve (node:internal:1)"),
    remedy("Integration tests need the database container", "`make it` failed: connect ECONNREFUSED 127.0.0.1:5432. `docker compose up -d db` worked.",
        "running 12 tests\nError: connect ECONNREFUSED 127.0.0.1:5432\n    at TCPConnectWrap.afterConnect"),
    remedy("error[E0502] in the row iterator was fixed by collecting ids first", "error[E0502]: cannot borrow `self.rows` as mutable because it is also borrowed as immutable. Collecting the ids into a Vec worked.",
        "   Compiling grid v0.3.1\nerror[E0502]: cannot borrow `self.rows` as mutable because it is also borrowed as immutable\n  --> src/grid.rs:88:9"),
    remedy("ModuleNotFoundError for yaml: install pyyaml", "ModuleNotFoundError: No module named 'yaml'. `pip install pyyaml` in the venv worked.",
        "Traceback (most recent call last):\n  File \"tools/gen.py\", line 3, in <module>\nModuleNotFoundError: No module named 'yaml'"),
    remedy("Android build: JDK 17 is needed", "Unsupported class file major version 65: JAVA_HOME must point to JDK 17 instead of 21.",
        "FAILURE: Build failed with an exception.\n* What went wrong:\nBUG! exception in phase 'semantic analysis'\nUnsupported class file major version 65"),
    remedy("Migrations lock: stop the worker first", "error: canceling statement due to lock timeout. Stopping the queue worker before `make migrate` solved it.",
        "applying 0042_orders\nerror: canceling statement due to lock timeout\nmake: *** [migrate] Error 1"),
    remedy("TS2742 in the shared package", "error TS2742: The inferred type of 'router' cannot be named without a reference. An explicit annotation of the router fixed it.",
        "packages/api/src/index.ts(14,14): error TS2742: The inferred type of 'router' cannot be named without a reference to '../node_modules/x'."),
    remedy("Playwright browsers are missing after an upgrade", "browserType.launch: Executable doesn't exist. `npx playwright install` helped.",
        "1) login.spec.ts:4 › signs in\nError: browserType.launch: Executable doesn't exist at /root/.cache/ms-playwright/chromium-1091/chrome"),
    remedy("go: inconsistent vendoring", "go: inconsistent vendoring in /src: run `go mod vendor` after changing go.mod.",
        "go: inconsistent vendoring in /home/ana/gateway:\n\tgithub.example/x/y@v1.4.0: is explicitly required in go.mod"),
    remedy("terraform state lock left by a killed run", "Error: Error acquiring the state lock. `terraform force-unlock` with the lock id worked.",
        "Error: Error acquiring the state lock\n\nError message: ConditionalCheckFailedException\nLock Info:\n  ID: 6a1d"),
    remedy("Node out of memory in the bundle step", "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory. NODE_OPTIONS=--max-old-space-size=6144 worked.",
        "<--- Last few GCs --->\nFATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n 1: 0xb090e0 node::Abort()"),
    remedy("pytest: fixture 'tenant' not found", "fixture 'tenant' not found: it is in tests/conftest.py, run pytest from the repository root.",
        "E       fixture 'tenant' not found\n>       available fixtures: cache, capfd\n1 error in 0.12s"),
    remedy("SQLITE_BUSY in parallel tests", "SqliteError: SQLITE_BUSY: database is locked. A separate file for each test worker fixed it.",
        "FAIL test/store.test.ts\nSqliteError: SQLITE_BUSY: database is locked\n    at Database.prepare"),
    remedy("docker build: no space left on device", "failed to solve: write /layer: no space left on device. `docker builder prune` worked.",
        "#12 ERROR: failed to solve: write /var/lib/docker/tmp/9: no space left on device"),
    remedy("ESLint cannot read the flat configuration", "Error: Could not find config file. ESLINT_USE_FLAT_CONFIG=true worked.",
        "Oops! Something went wrong! :(\n\nESLint: 8.57.0\n\nError: Could not find config file."),
    remedy("Protobuf: generated code is outdated", "undefined: orderspb.CancelReason after the proto changed; `make proto` fixed it.",
        "internal/orders/cancel.go:31:17: undefined: orderspb.CancelReason\nmake: *** [build] Error 2"),
    remedy("Gradle needs the signing key", "Execution failed for task ':app:packageRelease': keystore.properties is missing; copy it from the vault.",
        "FAILURE: Build failed with an exception.\nExecution failed for task ':app:packageRelease'.\n> SigningConfig \"release\" is missing required property \"storeFile\""),
    remedy("ruby: wrong bundler", "Could not find 'bundler' (2.4.10) required by your Gemfile.lock. `gem install bundler -v 2.4.10` worked.",
        "/usr/lib/ruby/dependency.rb:311: Could not find 'bundler' (2.4.10) required by your Gemfile.lock. (Gem::MissingSpecVersionError)"),
    remedy("CORS error of the preview server", "AxiosError: Network Error in preview tests; VITE_API must be set to the proxy path instead of the host.",
        "FAIL preview/cart.test.ts\nAxiosError: Network Error in preview tests\n    at XMLHttpRequest.handleError"),
    remedy("swift: macro must be trusted", "error: Macro \"Observable\" must be enabled before it can be used. -skipMacroValidation worked in CI.",
        "error: Macro \"Observable\" must be enabled before it can be used\n** BUILD FAILED **"),
];

/// Failures of the same tools that nothing is stored about.
#[rustfmt::skip]
pub(super) const UNKNOWN_FAILURES: &[&str] = &[
    "Error: Cannot find module 'left-pad'\nRequire stack:\n- /home/kim/shop/src/pad.ts",
    "Error: connect ECONNREFUSED 10.0.0.4:6379\n    at RedisClient.connect ECONNRESET",
    "error[E0499]: cannot borrow `self.cells` as mutable more than once at a time\n  --> src/grid.rs:12:9",
    "ModuleNotFoundError: No module named 'requests'",
    "Unsupported operating system version",
    "error: relation \"orders_v2\" does not exist",
    "src/a.ts(3,1): error TS2304: Cannot find name 'router'.",
    "Error: page.goto: net::ERR_CONNECTION_REFUSED at http://localhost:4173/",
    "go: github.example/x/y@v1.4.0: reading go.sum: missing entry",
    "Error: Invalid provider configuration\n\nProvider \"registry.example/cloud\" requires explicit configuration.",
    "TypeError: Cannot read properties of undefined (reading 'price')",
    "E       assert 3 == 4\n1 failed in 0.20s",
    "SqliteError: UNIQUE constraint failed: users.email",
    "#9 ERROR: failed to solve: node:21-alpine: not found",
    "/src/main.ts\n  12:5  error  'total' is assigned a value but never used  no-unused-vars",
    "internal/orders/cancel.go:44:2: undefined: refundPartial",
    "Execution failed for task ':app:lintDebug'.\n> Lint found 3 errors in the project",
    "Could not find 'rails' (7.1.2) required by the server",
    "npm ERR! code ELIFECYCLE\nnpm ERR! errno 1",
    "error: value of optional type 'URL?' must be unwrapped\n** BUILD FAILED **",
];
