//! Failing commands with their whole outputs, written by somebody who did not know the mechanism: see
//! [`super::failure_cases`]. Mechanisms were mended with the third table; the fourth was measured once, afterwards.

/// A failure with what helped, and the same failure in another place.
pub(super) struct ReturningFailure {
    pub command: &'static str,
    pub output: &'static str,
    pub remedy: &'static str,
    pub later_output: &'static str,
}

#[rustfmt::skip]
pub(super) const THIRD_FAILURES: &[ReturningFailure] = &[
    ReturningFailure {
        command: "sudo apt-get install -y graphviz",
        output: "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 2217 (unattended-upgr)\nN: Be aware that removing the lock file is not a solution and may break your system.\nE: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?",
        remedy: "Waited for the automatic updates by `sudo apt-get -o DPkg::Lock::Timeout=300 install -y graphviz`.",
        later_output: "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 90341 (unattended-upgr)\nN: Be aware that removing the lock file is not a solution and may break your system.\nE: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?",
    },
    ReturningFailure {
        command: "alembic upgrade head",
        output: "INFO  [alembic.runtime.migration] Context impl PostgresqlImpl.\nINFO  [alembic.runtime.migration] Will assume transactional DDL.\nERROR [alembic.util.messaging] Multiple head revisions are present for given argument 'head'; please specify a specific target revision, '<branchname>@head' to narrow to a specific head, or 'heads' for all heads\nFAILED: Multiple head revisions are present for given argument 'head'; please specify a specific target revision, '<branchname>@head' to narrow to a specific head, or 'heads' for all heads",
        remedy: "Two branches had added migrations: `alembic merge -m \"merge heads\" heads` and then upgrade.",
        later_output: "2024-06-02 11:31:07,402 INFO  [alembic.runtime.migration] Context impl SQLiteImpl.\n2024-06-02 11:31:07,402 INFO  [alembic.runtime.migration] Will assume non-transactional DDL.\n2024-06-02 11:31:07,455 ERROR [alembic.util.messaging] Multiple head revisions are present for given argument 'head'; please specify a specific target revision, '<branchname>@head' to narrow to a specific head, or 'heads' for all heads\nFAILED: Multiple head revisions are present for given argument 'head'; please specify a specific target revision, '<branchname>@head' to narrow to a specific head, or 'heads' for all heads",
    },
    ReturningFailure {
        command: "cargo build --release",
        output: "   Compiling openssl-sys v0.9.93\nerror: failed to run custom build command for `openssl-sys v0.9.93`\n\nCaused by:\n  process didn't exit successfully: `/home/dev/shopd/target/release/build/openssl-sys-3b1f0c9d2a77e1f4/build-script-main` (exit status: 101)\n  --- stderr\n  thread 'main' panicked at /home/dev/.cargo/registry/src/index-6f17d22bba15001f/openssl-sys-0.9.93/build/find_normal.rs:190:5:\n\n  Could not find directory of OpenSSL installation, and this `-sys` crate cannot\n  proceed without this knowledge. If OpenSSL is installed and this crate had\n  trouble finding it, you can set the `OPENSSL_DIR` environment variable for the\n  compilation process.",
        remedy: "Installed the headers with `apt-get install -y libssl-dev pkg-config`, after that the build went through.",
        later_output: "   Compiling openssl-sys v0.9.99\nerror: failed to run custom build command for `openssl-sys v0.9.99`\n\nCaused by:\n  process didn't exit successfully: `/builds/team/gateway/target/debug/build/openssl-sys-91c4aa07be5d3320/build-script-main` (exit status: 101)\n  --- stderr\n  thread 'main' panicked at /root/.cargo/registry/src/index-1949cf8c6b5b557f/openssl-sys-0.9.99/build/find_normal.rs:191:5:\n\n  Could not find directory of OpenSSL installation, and this `-sys` crate cannot\n  proceed without this knowledge. If OpenSSL is installed and this crate had\n  trouble finding it, you can set the `OPENSSL_DIR` environment variable for the\n  compilation process.",
    },
    ReturningFailure {
        command: "pnpm install",
        output: " ERR_PNPM_UNSUPPORTED_ENGINE  Unsupported environment (bad pnpm and/or Node.js version)\n\nYour Node version is incompatible with \"/home/dev/portal\".\n\nExpected version: >=20.10\nGot: v18.16.0\n\nThis is happening because the package's manifest has an engines.node field specified.",
        remedy: "Switched the node version with `nvm use 20` (there is an .nvmrc), then pnpm install.",
        later_output: " ERR_PNPM_UNSUPPORTED_ENGINE  Unsupported environment (bad pnpm and/or Node.js version)\n\nYour Node version is incompatible with \"/builds/portal/apps/admin\".\n\nExpected version: >=20.11\nGot: v18.19.1\n\nThis is happening because the package's manifest has an engines.node field specified.",
    },
    ReturningFailure {
        command: "mvn -q package",
        output: "[ERROR] Failed to execute goal on project tariff-core: Could not resolve dependencies for project com.acme:tariff-core:jar:2.1.0-SNAPSHOT: Failed to collect dependencies at com.acme:money:jar:1.4.0: Failed to read artifact descriptor for com.acme:money:jar:1.4.0: Could not transfer artifact com.acme:money:pom:1.4.0 from/to nexus (https://nexus.corp.example/repository/maven-public/): sun.security.validator.ValidatorException: PKIX path building failed: sun.security.provider.certpath.SunCertPathBuilderException: unable to find valid certification path to requested target -> [Help 1]\n[ERROR]\n[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.",
        remedy: "The JDK didn't know the company CA: `keytool -importcert -cacerts -alias corp-ca -file corp-ca.pem`.",
        later_output: "[INFO] BUILD FAILURE\n[INFO] Total time:  2.871 s\n[INFO] Finished at: 2024-05-06T08:12:55+02:00\n[ERROR] Failed to execute goal on project tariff-web: Could not resolve dependencies for project com.acme:tariff-web:war:2.3.0-SNAPSHOT: Failed to collect dependencies at com.acme:calendar:jar:0.9.2: Could not transfer artifact com.acme:calendar:pom:0.9.2 from/to nexus (https://nexus.corp.example/repository/maven-public/): sun.security.validator.ValidatorException: PKIX path building failed: sun.security.provider.certpath.SunCertPathBuilderException: unable to find valid certification path to requested target -> [Help 1]",
    },
    ReturningFailure {
        command: "go build ./...",
        output: "internal/metrics/prom.go:9:2: missing go.sum entry for module providing package github.com/prometheus/client_golang/prometheus (imported by example.com/relay/internal/metrics); to add:\n\tgo get example.com/relay/internal/metrics",
        remedy: "`go mod tidy` added the missing sums.",
        later_output: "internal/cache/store.go:14:2: missing go.sum entry for module providing package github.com/dgraph-io/ristretto (imported by example.com/relay/internal/cache); to add:\n\tgo get example.com/relay/internal/cache",
    },
    ReturningFailure {
        command: "npm install",
        output: "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree\nnpm ERR!\nnpm ERR! While resolving: backoffice@3.1.0\nnpm ERR! Found: react@18.2.0\nnpm ERR! node_modules/react\nnpm ERR!   react@\"^18.2.0\" from the root project\nnpm ERR!\nnpm ERR! Could not resolve dependency:\nnpm ERR! peer react@\"^16.8.0 || ^17.0.0\" from react-pivot-grid@2.4.1\nnpm ERR! node_modules/react-pivot-grid\nnpm ERR!   react-pivot-grid@\"^2.4.1\" from the root project",
        remedy: "Added an `overrides` entry for react-pivot-grid's react in package.json so that it takes the root's version; `npm install` then resolves.",
        later_output: "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree\nnpm ERR!\nnpm ERR! While resolving: backoffice@3.4.2\nnpm ERR! Found: react@18.3.1\nnpm ERR! node_modules/react\nnpm ERR!   react@\"^18.3.0\" from the root project\nnpm ERR!\nnpm ERR! Could not resolve dependency:\nnpm ERR! peer react@\"^16.8.0 || ^17.0.0\" from react-pivot-grid@2.4.3\nnpm ERR! node_modules/react-pivot-grid\nnpm ERR!   react-pivot-grid@\"^2.4.1\" from the root project",
    },
    ReturningFailure {
        command: "kubectl apply -f k8s/api.yaml",
        output: "service/api unchanged\nThe Deployment \"api\" is invalid: spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string{\"app\":\"api\", \"tier\":\"backend\"}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: field is immutable",
        remedy: "Selectors can't be changed in place: `kubectl delete deployment api --cascade=orphan` and apply again.",
        later_output: "configmap/worker-env-7g2h8k configured\nservice/worker unchanged\nThe Deployment \"worker\" is invalid: spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string{\"app.kubernetes.io/name\":\"worker\", \"env\":\"dev\"}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: field is immutable",
    },
    ReturningFailure {
        command: "xcodebuild -workspace Rider.xcworkspace -scheme Rider build",
        output: "PhaseScriptExecution [CP]\\ Check\\ Pods\\ Manifest.lock /Users/dev/Library/Developer/Xcode/DerivedData/Rider-abqk/Build/Intermediates.noindex/Rider.build/Debug-iphonesimulator/Rider.build/Script-0F1A2B3C.sh (in target 'Rider' from project 'Rider')\ndiff: /Podfile.lock: No such file or directory\nerror: The sandbox is not in sync with the Podfile.lock. Run 'pod install' or update your CocoaPods installation.\n** BUILD FAILED **\n\nThe following build commands failed:\n\tPhaseScriptExecution [CP]\\ Check\\ Pods\\ Manifest.lock\n(1 failure)",
        remedy: "`cd ios && bundle exec pod install` brought the sandbox back in sync.",
        later_output: "PhaseScriptExecution [CP]\\ Check\\ Pods\\ Manifest.lock /Volumes/ci/DerivedData/Rider-ftzz/Build/Intermediates.noindex/Rider.build/Debug-iphonesimulator/RiderTests.build/Script-77D0E1AA.sh (in target 'RiderTests' from project 'Rider')\nerror: The sandbox is not in sync with the Podfile.lock. Run 'pod install' or update your CocoaPods installation.\n** TEST FAILED **\n\nThe following build commands failed:\n\tPhaseScriptExecution [CP]\\ Check\\ Pods\\ Manifest.lock\n(1 failure)",
    },
    ReturningFailure {
        command: "psql -U app app_dev",
        output: "psql: error: connection to server on socket \"/var/run/postgresql/.s.PGSQL.5432\" failed: FATAL:  Peer authentication failed for user \"app\"",
        remedy: "Connect over TCP instead of the socket: `psql -h localhost -U app app_dev`.",
        later_output: "psql: error: connection to server on socket \"/run/postgresql/.s.PGSQL.5432\" failed: FATAL:  Peer authentication failed for user \"app\"",
    },
    ReturningFailure {
        command: "terraform init",
        output: "Initializing provider plugins...\n- Reusing previous version of hashicorp/google from the dependency lock file\n╷\n│ Error: Failed to install provider\n│\n│ Error while installing hashicorp/google v5.6.0: the local package for\n│ registry.terraform.io/hashicorp/google 5.6.0 doesn't match any of the\n│ checksums previously recorded in the dependency lock file (this might be\n│ because the available checksums are for packages targeting different\n│ platforms)\n╵",
        remedy: "The lock file had macOS hashes only: `terraform providers lock -platform=linux_amd64 -platform=darwin_arm64` and commit .terraform.lock.hcl.",
        later_output: "Initializing provider plugins...\n- Reusing previous version of hashicorp/random from the dependency lock file\n╷\n│ Error: Failed to install provider\n│\n│ Error while installing hashicorp/random v3.6.0: the local package for\n│ registry.terraform.io/hashicorp/random 3.6.0 doesn't match any of the\n│ checksums previously recorded in the dependency lock file (this might be\n│ because the available checksums are for packages targeting different\n│ platforms)\n╵",
    },
    ReturningFailure {
        command: "helm upgrade --install search charts/search",
        output: "W0122 09:30:51.702214   12044 warnings.go:70] autoscaling/v2beta2 HorizontalPodAutoscaler is deprecated\nError: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress",
        remedy: "An aborted release was still pending-upgrade: `helm rollback search` to the last good revision, then upgrade again.",
        later_output: "W0318 14:02:09.118221   40117 warnings.go:70] policy/v1beta1 PodDisruptionBudget is deprecated\nError: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress",
    },
    ReturningFailure {
        command: "npm ci",
        output: "npm ERR! code EUSAGE\nnpm ERR!\nnpm ERR! `npm ci` can only install packages when your package.json and package-lock.json or npm-shrinkwrap.json are in sync. Please update your lock file with `npm install` before continuing.\nnpm ERR!\nnpm ERR! Missing: @types/node@20.8.7 from lock file\nnpm ERR!\nnpm ERR! A complete log of this run can be found in: /home/dev/.npm/_logs/2024-02-11T09_14_22_871Z-debug-0.log",
        remedy: "Ran `npm install --package-lock-only` and committed the updated package-lock.json.",
        later_output: "npm ERR! code EUSAGE\nnpm ERR!\nnpm ERR! `npm ci` can only install packages when your package.json and package-lock.json or npm-shrinkwrap.json are in sync. Please update your lock file with `npm install` before continuing.\nnpm ERR!\nnpm ERR! Missing: vite@5.1.4 from lock file\nnpm ERR! Missing: rollup@4.12.0 from lock file\nnpm ERR!\nnpm ERR! A complete log of this run can be found in: /root/.npm/_logs/2024-04-03T16_40_01_105Z-debug-0.log",
    },
    ReturningFailure {
        command: "make flash",
        output: "python -m esptool --chip esp32 --port /dev/ttyUSB0 --baud 460800 write_flash 0x10000 build/node.bin\nesptool.py v4.6.2\nSerial port /dev/ttyUSB0\n\nA fatal error occurred: Could not open /dev/ttyUSB0, the port is busy or doesn't exist.\n([Errno 13] could not open port /dev/ttyUSB0: [Errno 13] Permission denied: '/dev/ttyUSB0')\nmake: *** [Makefile:41: flash] Error 2",
        remedy: "The user lacked access to serial ports: `sudo usermod -aG dialout $USER` and log in again.",
        later_output: "python -m esptool --chip esp32s3 --port /dev/ttyUSB1 --baud 921600 write_flash 0x20000 build/node_s3.bin\nesptool.py v4.7.0\nSerial port /dev/ttyUSB1\n\nA fatal error occurred: Could not open /dev/ttyUSB1, the port is busy or doesn't exist.\n([Errno 13] could not open port /dev/ttyUSB1: [Errno 13] Permission denied: '/dev/ttyUSB1')\nmake: *** [Makefile:58: flash] Error 2",
    },
    ReturningFailure {
        command: "pip install -r requirements.txt",
        output: "error: externally-managed-environment\n\n× This environment is externally managed\n╰─> To install Python packages system-wide, try apt install\n    python3-xyz, where xyz is the package you are trying to\n    install.\n\nnote: If you believe this is a mistake, please contact your Python installation or OS distribution provider.\nhint: See PEP 668 for the detailed specification.",
        remedy: "Made a virtual environment, `python3 -m venv .venv && .venv/bin/pip install -r requirements.txt`.",
        later_output: "error: externally-managed-environment\n\n× This environment is externally managed\n╰─> To install Python packages system-wide, try apt install\n    python3-xyz, where xyz is the package you are trying to\n    install.\n\n    If you wish to install a non-Debian-packaged Python package,\n    create a virtual environment using python3 -m venv path/to/venv.\n\nnote: If you believe this is a mistake, please contact your Python installation or OS distribution provider.\nhint: See PEP 668 for the detailed specification.",
    },
    ReturningFailure {
        command: "cmake -S . -B build",
        output: "-- The CXX compiler identification is GNU 12.3.0\nCMake Error at CMakeLists.txt:18 (find_package):\n  By not providing \"FindQt6.cmake\" in CMAKE_MODULE_PATH this project has\n  asked CMake to find a package configuration file provided by \"Qt6\", but\n  CMake did not find one.\n\n  Could not find a package configuration file provided by \"Qt6\" with any of\n  the following names:\n\n    Qt6Config.cmake\n    qt6-config.cmake\n\n-- Configuring incomplete, errors occurred!\nSee also \"/home/dev/plotter/build/CMakeFiles/CMakeOutput.log\".",
        remedy: "Qt is in /opt/Qt here: `cmake -S . -B build -DCMAKE_PREFIX_PATH=/opt/Qt/6.5.3/gcc_64`.",
        later_output: "Preset CMake variables:\n\n  CMAKE_BUILD_TYPE=\"Release\"\n\n-- The CXX compiler identification is Clang 17.0.6\nCMake Error at src/gui/CMakeLists.txt:3 (find_package):\n  By not providing \"FindQt6.cmake\" in CMAKE_MODULE_PATH this project has\n  asked CMake to find a package configuration file provided by \"Qt6\", but\n  CMake did not find one.\n\n  Could not find a package configuration file provided by \"Qt6\" with any of\n  the following names:\n\n    Qt6Config.cmake\n    qt6-config.cmake\n\n-- Configuring incomplete, errors occurred!",
    },
    ReturningFailure {
        command: "pytest tests/unit",
        output: "============================= test session starts ==============================\nplatform linux -- Python 3.11.4, pytest-7.4.2, pluggy-1.3.0\nrootdir: /home/dev/fleet\ncollected 0 items / 1 error\n\n==================================== ERRORS ====================================\n_________________ ERROR collecting tests/unit/test_routing.py __________________\nImportError while importing test module '/home/dev/fleet/tests/unit/test_routing.py'.\nHint: make sure your test modules/packages have valid Python names.\nTraceback:\ntests/unit/test_routing.py:3: in <module>\n    from fleet.routing import shortest\nE   ModuleNotFoundError: No module named 'fleet'\n=========================== short test summary info ============================\nERROR tests/unit/test_routing.py\n=============================== 1 error in 0.09s ===============================",
        remedy: "The package lies under src/, so it has to be installed first: `pip install -e .` and then pytest finds it.",
        later_output: "==================================== ERRORS ====================================\n__________________ ERROR collecting tests/unit/test_depots.py __________________\nImportError while importing test module '/tmp/wt-19/fleet/tests/unit/test_depots.py'.\nHint: make sure your test modules/packages have valid Python names.\nTraceback:\n/usr/lib/python3.12/importlib/__init__.py:90: in import_module\n    return _bootstrap._gcd_import(name[level:], package, level)\ntests/unit/test_depots.py:1: in <module>\n    from fleet.depots import Depot\nE   ModuleNotFoundError: No module named 'fleet'\n=========================== short test summary info ============================\nERROR tests/unit/test_depots.py\n1 error in 0.14s",
    },
    ReturningFailure {
        command: "./gradlew bundleRelease",
        output: "> Task :app:minifyReleaseWithR8 FAILED\n\nFAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task ':app:minifyReleaseWithR8'.\n> A failure occurred while executing com.android.build.gradle.internal.tasks.R8Task$R8Runnable\n   > java.lang.OutOfMemoryError: Java heap space\n\nBUILD FAILED in 6m 41s\n112 actionable tasks: 58 executed, 54 up-to-date",
        remedy: "Set `org.gradle.jvmargs=-Xmx6g` in gradle.properties, R8 then has enough heap.",
        later_output: "> Task :app:minifyReleaseWithR8 FAILED\n\nFAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task ':app:minifyReleaseWithR8'.\n> A failure occurred while executing com.android.build.gradle.internal.tasks.R8Task$R8Runnable\n   > java.lang.OutOfMemoryError: Java heap space\n\nBUILD FAILED in 9m 2s\n131 actionable tasks: 131 executed",
    },
    ReturningFailure {
        command: "docker run --rm registry.local/ocr:2.3",
        output: "WARNING: The requested image's platform (linux/amd64) does not match the detected host platform (linux/arm64/v8) and no specific platform was requested\nexec /usr/local/bin/ocr-server: exec format error",
        remedy: "The image exists for amd64 only: enabled emulation with `docker run --privileged --rm tonistiigi/binfmt --install amd64` and run it with --platform linux/amd64.",
        later_output: "WARNING: The requested image's platform (linux/amd64) does not match the detected host platform (linux/arm64/v8) and no specific platform was requested\n4c1f9ab03d7e5520b6d1c2a7\nexec /usr/local/bin/ocr-server: exec format error",
    },
    ReturningFailure {
        command: "cmake --build build",
        output: "CMake Error: The current CMakeCache.txt directory /work/synth/build/CMakeCache.txt is different than the directory /home/anna/synth/build where CMakeCache.txt was created. This may result in binaries being created in the wrong place. If you are not sure, reedit the CMakeCache.txt\nCMake Error: The source \"/work/synth/CMakeLists.txt\" does not match the source \"/home/anna/synth/CMakeLists.txt\" used to generate cache.  Re-run cmake with a different source directory.\ngmake: *** [Makefile:820: cmake_check_build_system] Error 1",
        remedy: "The build directory had been copied from another place: `rm -rf build && cmake -S . -B build`.",
        later_output: "CMake Error: The current CMakeCache.txt directory /mnt/ci/job-5521/synth/out/debug/CMakeCache.txt is different than the directory /mnt/ci/job-5498/synth/out/debug where CMakeCache.txt was created. This may result in binaries being created in the wrong place. If you are not sure, reedit the CMakeCache.txt\nCMake Error: The source \"/mnt/ci/job-5521/synth/CMakeLists.txt\" does not match the source \"/mnt/ci/job-5498/synth/CMakeLists.txt\" used to generate cache.  Re-run cmake with a different source directory.\nninja: error: rebuilding 'build.ninja': subcommand failed",
    },
];

#[rustfmt::skip]
pub(super) const THIRD_UNKNOWN_FAILURES: &[&str] = &[
    " ERR_PNPM_NO_MATCHING_VERSION_INSIDE_WORKSPACE  In apps/admin: No matching version found for @portal/ui@workspace:^4.0.0 inside the workspace\n\nThis error happened while installing a direct dependency of /home/dev/portal/apps/admin",
    "npm ERR! code E404\nnpm ERR! 404 Not Found - GET https://packages.example/@acme%2fcharts-core - Not found\nnpm ERR! 404\nnpm ERR! 404  '@acme/charts-core@^1.0.0' is not in this registry.\nnpm ERR! 404\nnpm ERR! 404 Note that you can also install from a\nnpm ERR! 404 tarball, folder, http url, or git folder.",
    "ok  \texample.com/relay/internal/cache\t0.112s\n--- FAIL: TestTokenRefresh (0.03s)\n    auth_test.go:71: got status 401, want 200\nFAIL\nFAIL\texample.com/relay/internal/auth\t0.041s\nFAIL",
    "packages/editor/src/selection.ts:118:7 - error TS2322: Type 'number | undefined' is not assignable to type 'number'.\n  Type 'undefined' is not assignable to type 'number'.\n\n118       offset: range?.start,\n          ~~~~~~\n\nFound 1 error in packages/editor/src/selection.ts:118",
    "service/api unchanged\nError from server (BadRequest): error when creating \"k8s/api.yaml\": Deployment in version \"v1\" cannot be handled as a Deployment: strict decoding error: unknown field \"spec.template.spec.containers[0].resource\"",
    "[+] Running 1/3\n ✔ Network crm_default    Created                                          0.1s\n ⠿ Container crm-db-1     Waiting                                         31.0s\ndependency failed to start: container crm-db-1 is unhealthy",
    "Reading package lists... Done\nBuilding dependency tree... Done\nSome packages could not be installed. This may mean that you have\nrequested an impossible situation.\nThe following packages have unmet dependencies:\n graphviz : Depends: libgvc6 (>= 2.42.2-9) but it is not going to be installed\nE: Unable to correct problems, you have held broken packages.",
    "> Task :app:minifyReleaseWithR8 FAILED\nERROR: Missing classes detected while running R8. Please add the missing classes or apply additional keep rules that are generated in /home/dev/courier/app/build/outputs/mapping/release/missing_rules.txt.\nERROR: R8: Missing class org.slf4j.impl.StaticLoggerBinder (referenced from: void org.slf4j.LoggerFactory.bind())\n\nFAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task ':app:minifyReleaseWithR8'.\n\nBUILD FAILED in 2m 8s",
    "psql: error: connection to server at \"localhost\" (127.0.0.1), port 5432 failed: FATAL:  database \"app_dev\" does not exist",
    "E0415 08:01:12.667120   11902 memcache.go:265] couldn't get current server API group list: Get \"https://10.8.0.4:6443/api?timeout=32s\": dial tcp 10.8.0.4:6443: i/o timeout\nUnable to connect to the server: dial tcp 10.8.0.4:6443: i/o timeout",
    "An error occurred while loading ./spec/models/loan_spec.rb.\nFailure/Error: ActiveRecord::Migration.maintain_test_schema!\n\nActiveRecord::PendingMigrationError:\n  Migrations are pending. To resolve this issue, run:\n\n          bin/rails db:migrate RAILS_ENV=test\n\n0 examples, 0 failures, 1 error occurred outside of examples",
    "ERROR: Cannot install -r requirements.txt (line 4) and urllib3==2.2.1 because these package versions have conflicting dependencies.\n\nThe conflict is caused by:\n    The user requested urllib3==2.2.1\n    botocore 1.29.0 depends on urllib3<1.27 and >=1.25.4\n\nERROR: ResolutionImpossible: for help visit https://pip.pypa.io/en/latest/topics/dependency-resolution/#dealing-with-dependency-conflicts",
    "docker: Error response from daemon: failed to create task for container: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: \"/usr/local/bin/ocr-server\": permission denied: unknown.",
    "FAILURE: Build failed with an exception.\n\n* Where:\nBuild file '/home/dev/courier/app/build.gradle' line: 48\n\n* What went wrong:\nA problem occurred evaluating project ':app'.\n> Could not get unknown property 'signingProps' for object of type com.android.build.gradle.internal.dsl.BaseAppModuleExtension.\n\nBUILD FAILED in 2s",
    "tests/integration/test_claims.py F\n\n=================================== FAILURES ===================================\n______________________________ test_claim_created ______________________________\ntests/integration/test_claims.py:44: in test_claim_created\n    session.commit()\nE   sqlalchemy.exc.IntegrityError: (psycopg2.errors.UniqueViolation) duplicate key value violates unique constraint \"claims_reference_key\"\nE   DETAIL:  Key (reference)=(C-1001) already exists.\n=========================== short test summary info ============================\nFAILED tests/integration/test_claims.py::test_claim_created\n!!!!!!!!!!!!!!!!!!!!!!!!!! stopping after 1 failures !!!!!!!!!!!!!!!!!!!!!!!!!!!",
    "To git.corp.example:maps/tiles.git\n ! [rejected]        feature/map-tiles -> feature/map-tiles (non-fast-forward)\nerror: failed to push some refs to 'git.corp.example:maps/tiles.git'\nhint: Updates were rejected because the tip of your current branch is behind\nhint: its remote counterpart.",
    "==================================== ERRORS ====================================\n_________________ ERROR collecting tests/unit/test_routing.py __________________\nImportError while importing test module '/home/dev/fleet/tests/unit/test_routing.py'.\nHint: make sure your test modules/packages have valid Python names.\nTraceback:\ntests/unit/test_routing.py:3: in <module>\n    from fleet.routing import shortest\nsrc/fleet/routing.py:5: in <module>\n    from fleet.graph import Graph\nsrc/fleet/graph.py:2: in <module>\n    from fleet.routing import Edge\nE   ImportError: cannot import name 'Edge' from partially initialized module 'fleet.routing' (most likely due to a circular import) (/home/dev/fleet/src/fleet/routing.py)\n=========================== short test summary info ============================\nERROR tests/unit/test_routing.py",
    "Initializing provider plugins...\n- Finding hashicorp/google versions matching \"~> 4.0, ~> 5.6\"...\n╷\n│ Error: Failed to query available provider packages\n│\n│ Could not retrieve the list of available versions for provider\n│ hashicorp/google: no available releases match the given constraints ~> 4.0,\n│ ~> 5.6\n╵",
    "   Compiling ring v0.17.7\nerror: failed to run custom build command for `ring v0.17.7`\n\nCaused by:\n  process didn't exit successfully: `/home/dev/shopd/target/release/build/ring-0d3b7c1a9e6f/build-script-build` (exit status: 101)\n  --- stderr\n  thread 'main' panicked at /home/dev/.cargo/registry/src/index-6f17d22bba15001f/ring-0.17.7/build.rs:512:9:\n  failed to execute [\"aarch64-linux-gnu-gcc\" ...]: No such file or directory (os error 2)",
    "error: bad signature 0x00000000\nfatal: index file corrupt",
];

#[rustfmt::skip]
pub(super) const FOURTH_FAILURES: &[ReturningFailure] = &[
    ReturningFailure {
        command: "docker build -t web:dev .",
        output: "[+] Building 1.3s (8/11)\n => ERROR [stage-1 3/4] COPY dist/ /usr/share/nginx/html/                  0.0s\n------\n > [stage-1 3/4] COPY dist/ /usr/share/nginx/html/:\n------\nDockerfile:14\n--------------------\n  12 |     FROM nginx:1.25-alpine\n  13 |     COPY nginx.conf /etc/nginx/conf.d/default.conf\n  14 | >>> COPY dist/ /usr/share/nginx/html/\n--------------------\nERROR: failed to solve: failed to compute cache key: failed to calculate checksum of ref 8d1c0e5e-7f3a::k2x9: \"/dist\": not found",
        remedy: "dist was excluded in .dockerignore; added the line `!dist` to .dockerignore.",
        later_output: "[+] Building 4.9s (9/12)\n => ERROR [stage-1 4/5] COPY dist/ /usr/share/nginx/html/                  0.0s\n------\n > [stage-1 4/5] COPY dist/ /usr/share/nginx/html/:\n------\nDockerfile:19\n--------------------\n  17 |     COPY nginx.conf /etc/nginx/conf.d/default.conf\n  18 |     RUN rm -rf /usr/share/nginx/html/*\n  19 | >>> COPY dist/ /usr/share/nginx/html/\n--------------------\nERROR: failed to solve: failed to compute cache key: failed to calculate checksum of ref 01ba44c2-9be0::zz71: \"/dist\": not found",
    },
    ReturningFailure {
        command: "bundle exec rspec",
        output: "Your Ruby version is 3.0.2, but your Gemfile specified 3.2.2",
        remedy: "The system ruby was first in PATH: `eval \"$(rbenv init -)\"` in the shell before bundle, so that .ruby-version counts.",
        later_output: "Your Ruby version is 3.0.4, but your Gemfile specified 3.2.3",
    },
    ReturningFailure {
        command: "npm run build",
        output: "> storefront@1.9.0 build\n> webpack --mode production\n\nnode:internal/crypto/hash:71\n  this[kHandle] = new _Hash(algorithm, xofLen);\n                  ^\n\nError: error:0308010C:digital envelope routines::unsupported\n    at new Hash (node:internal/crypto/hash:71:19)\n    at Object.createHash (node:crypto:133:10)\n    at module.exports (/home/dev/storefront/node_modules/webpack/lib/util/createHash.js:135:53) {\n  opensslErrorStack: [ 'error:03000086:digital envelope routines::initialization error' ],\n  library: 'digital envelope routines',\n  reason: 'unsupported',\n  code: 'ERR_OSSL_EVP_UNSUPPORTED'\n}\nNode.js v18.17.1",
        remedy: "`NODE_OPTIONS=--openssl-legacy-provider npm run build` works until webpack 4 is replaced.",
        later_output: "> storefront@1.11.3 build:staging\n> webpack --mode production --env staging\n\nnode:internal/crypto/hash:68\n  this[kHandle] = new _Hash(algorithm, xofLen);\n                  ^\n\nError: error:0308010C:digital envelope routines::unsupported\n    at new Hash (node:internal/crypto/hash:68:19)\n    at Object.createHash (node:crypto:138:10)\n    at module.exports (/builds/web/storefront/node_modules/webpack/lib/util/createHash.js:135:53)\n    at NormalModule._initBuildHash (/builds/web/storefront/node_modules/webpack/lib/NormalModule.js:417:16) {\n  opensslErrorStack: [ 'error:03000086:digital envelope routines::initialization error' ],\n  library: 'digital envelope routines',\n  reason: 'unsupported',\n  code: 'ERR_OSSL_EVP_UNSUPPORTED'\n}\nNode.js v20.11.0",
    },
    ReturningFailure {
        command: "cargo check",
        output: "    Checking ledger v0.4.1 (/home/dev/ledger)\nerror: set `DATABASE_URL` to use query macros online, or run `cargo sqlx prepare` to update the query cache\n  --> src/repo/accounts.rs:57:5\n   |\n57 | /     sqlx::query_as!(\n58 | |         Account,\n59 | |         \"select id, iban from accounts where id = $1\",\n60 | |         id\n61 | |     )\n   | |_____^\n\nerror: could not compile `ledger` (lib) due to 1 previous error",
        remedy: "Ran `cargo sqlx prepare --workspace` against the dev database and committed the .sqlx directory, then `SQLX_OFFLINE=true cargo check` works.",
        later_output: "    Checking ledger v0.6.0 (/srv/ci/work/8812/ledger)\nerror: set `DATABASE_URL` to use query macros online, or run `cargo sqlx prepare` to update the query cache\n   --> src/repo/bookings.rs:203:9\n    |\n203 | /         sqlx::query!(\n204 | |             \"insert into bookings (account, amount) values ($1, $2)\",\n205 | |             account, amount\n206 | |         )\n    | |_________^\n\nerror: could not compile `ledger` (lib) due to 1 previous error",
    },
    ReturningFailure {
        command: "dotnet test",
        output: "Testhost process for source(s) '/home/dev/Tariff/tests/bin/Debug/net6.0/Tariff.Tests.dll' exited with error: You must install or update .NET to run this application.\nApp: /home/dev/Tariff/tests/bin/Debug/net6.0/testhost.dll\nArchitecture: x64\nFramework: 'Microsoft.NETCore.App', version '6.0.0' (x64)\n.NET location: /usr/share/dotnet\nThe following frameworks were found:\n  8.0.1 at [/usr/share/dotnet/shared/Microsoft.NETCore.App]\n. Please check the diagnostic logs for more information.",
        remedy: "Only .NET 8 is on the machine: `DOTNET_ROLL_FORWARD=Major dotnet test` runs the net6.0 tests on it.",
        later_output: "Testhost process for source(s) '/src/Tariff/tests/bin/Release/net6.0/Tariff.Rules.Tests.dll' exited with error: You must install or update .NET to run this application.\nApp: /src/Tariff/tests/bin/Release/net6.0/testhost.dll\nArchitecture: arm64\nFramework: 'Microsoft.NETCore.App', version '6.0.0' (arm64)\n.NET location: /usr/lib/dotnet\nThe following frameworks were found:\n  8.0.4 at [/usr/lib/dotnet/shared/Microsoft.NETCore.App]\n. Please check the diagnostic logs for more information.",
    },
    ReturningFailure {
        command: "npx tsc --noEmit",
        output: "<--- Last few GCs --->\n\n[21877:0x6a1c3b0]    48213 ms: Mark-sweep 2043.1 (2082.4) -> 2041.8 (2083.1) MB, 1811.2 / 0.0 ms  (average mu = 0.112, current mu = 0.021) allocation failure; scavenge might not succeed\n\n<--- JS stacktrace --->\n\nFATAL ERROR: Ineffective mark-compacts near heap limit Allocation failed - JavaScript heap out of memory\nAborted (core dumped)",
        remedy: "`NODE_OPTIONS=--max-old-space-size=6144 npx tsc --noEmit` gets through.",
        later_output: "<--- Last few GCs --->\n\n[419:0x55e0d10]    91750 ms: Mark-Compact 2031.9 (2079.6) -> 2030.2 (2080.1) MB, 2207.71 / 0.00 ms  (average mu = 0.087, current mu = 0.009) allocation failure; scavenge might not succeed\n\n<--- JS stacktrace --->\n\nFATAL ERROR: Ineffective mark-compacts near heap limit Allocation failed - JavaScript heap out of memory\n----- Native stack trace -----\n 1: 0xb85bc0 node::Abort() [node]\nAborted (core dumped)",
    },
    ReturningFailure {
        command: "docker compose up -d",
        output: "[+] Running 2/3\n ✔ Network crm_default    Created                                          0.1s\n ✔ Container crm-redis-1  Started                                          0.4s\n ⠿ Container crm-db-1     Starting                                         0.4s\nError response from daemon: driver failed programming external connectivity on endpoint crm-db-1 (6ad0f7be1c02): Error starting userland proxy: listen tcp4 0.0.0.0:5432: bind: address already in use",
        remedy: "A Postgres of the host occupied the port; `sudo systemctl disable --now postgresql` and compose comes up.",
        later_output: "[+] Running 1/1\n ⠿ Container crm-db-1     Starting                                         0.2s\nError response from daemon: driver failed programming external connectivity on endpoint crm-db-1 (f19b02c77ae8): Error starting userland proxy: listen tcp4 0.0.0.0:5432: bind: address already in use",
    },
    ReturningFailure {
        command: "ansible-playbook -i hosts site.yml",
        output: "TASK [Gathering Facts] *********************************************************\nfatal: [web-03]: FAILED! => {\"ansible_facts\": {}, \"changed\": false, \"msg\": \"The module failed to execute correctly, you probably need to set the interpreter.\\nSee stdout/stderr for the exact error\", \"module_stderr\": \"/bin/sh: 1: /usr/bin/python: not found\\n\", \"rc\": 127}\n\nPLAY RECAP *********************************************************************\nweb-03                     : ok=0    changed=0    unreachable=0    failed=1",
        remedy: "The hosts only have python3: set `ansible_python_interpreter=/usr/bin/python3` in group_vars/all.",
        later_output: "TASK [Gathering Facts] *********************************************************\nfatal: [db-11]: FAILED! => {\"ansible_facts\": {}, \"changed\": false, \"msg\": \"The module failed to execute correctly, you probably need to set the interpreter.\\nSee stdout/stderr for the exact error\", \"module_stderr\": \"Shared connection to 10.4.0.11 closed.\\r\\n\", \"module_stdout\": \"/bin/sh: 1: /usr/bin/python: not found\\r\\n\", \"rc\": 127}\n\nPLAY RECAP *********************************************************************\ndb-11                      : ok=0    changed=0    unreachable=0    failed=1",
    },
    ReturningFailure {
        command: "dotnet restore",
        output: "  Determining projects to restore...\n/home/dev/Claims/src/Claims.Api/Claims.Api.csproj : error NU1301: Unable to load the service index for source https://pkgs.corp.example/nuget/v3/index.json.\n/home/dev/Claims/src/Claims.Api/Claims.Api.csproj : error NU1301:   Response status code does not indicate success: 401 (Unauthorized).\n  Failed to restore /home/dev/Claims/src/Claims.Api/Claims.Api.csproj (in 1.02 sec).",
        remedy: "Restored the feed login with the credential provider: `dotnet restore --interactive` once, afterwards the cached login is used.",
        later_output: "  Determining projects to restore...\n/agent/_work/77/s/src/Claims.Worker/Claims.Worker.csproj : error NU1301: Unable to load the service index for source https://pkgs.corp.example/nuget/v3/index.json. [/agent/_work/77/s/Claims.sln]\n/agent/_work/77/s/src/Claims.Worker/Claims.Worker.csproj : error NU1301:   Response status code does not indicate success: 401 (Unauthorized). [/agent/_work/77/s/Claims.sln]\n  Failed to restore /agent/_work/77/s/src/Claims.Worker/Claims.Worker.csproj (in 3.4 sec).",
    },
    ReturningFailure {
        command: "ansible-playbook deploy.yml",
        output: "PLAY [app servers] *************************************************************\nERROR! Attempting to decrypt but no vault secrets found",
        remedy: "Pass the vault password: `ansible-playbook deploy.yml --vault-password-file ~/.ansible/vault_pass`.",
        later_output: "PLAY [rotate certificates] *****************************************************\n\nTASK [Gathering Facts] *********************************************************\nok: [qa-app-2]\nERROR! Attempting to decrypt but no vault secrets found",
    },
    ReturningFailure {
        command: "pytest tests/integration -x",
        output: "tests/integration/test_claims.py E\n\n==================================== ERRORS ====================================\n_____________________ ERROR at setup of test_claim_created _____________________\ntests/conftest.py:31: in engine\n    conn = psycopg2.connect(dsn)\nE   psycopg2.OperationalError: connection to server at \"localhost\" (127.0.0.1), port 5433 failed: Connection refused\nE   \tIs the server running on that host and accepting TCP/IP connections?\n=========================== short test summary info ============================\nERROR tests/integration/test_claims.py::test_claim_created - psycopg2.OperationalError\n!!!!!!!!!!!!!!!!!!!!!!!!!! stopping after 1 failures !!!!!!!!!!!!!!!!!!!!!!!!!!!\n============================== 1 error in 1.20s ================================",
        remedy: "The integration tests need their own Postgres on 5433: `docker compose -f compose.test.yml up -d --wait db` before pytest.",
        later_output: "tests/integration/test_payouts.py EEE\n\n==================================== ERRORS ====================================\n____________________ ERROR at setup of test_payout_rejected ____________________\ntests/conftest.py:38: in engine\n    conn = psycopg2.connect(dsn)\nE   psycopg2.OperationalError: connection to server at \"localhost\" (::1), port 5433 failed: Connection refused\nE   \tIs the server running on that host and accepting TCP/IP connections?\nE   connection to server at \"localhost\" (127.0.0.1), port 5433 failed: Connection refused\nE   \tIs the server running on that host and accepting TCP/IP connections?\n=========================== short test summary info ============================\nERROR tests/integration/test_payouts.py::test_payout_rejected - psycopg2.OperationalError\n============================== 3 errors in 2.71s ===============================",
    },
    ReturningFailure {
        command: "psql -d geo -f migrations/001_init.sql",
        output: "CREATE SCHEMA\npsql:migrations/001_init.sql:4: ERROR:  could not open extension control file \"/usr/share/postgresql/14/extension/postgis.control\": No such file or directory\npsql:migrations/001_init.sql:12: ERROR:  type \"geometry\" does not exist\nLINE 3:   shape geometry(Polygon, 4326) not null\n                ^",
        remedy: "PostGIS wasn't installed on the server: `apt-get install postgresql-14-postgis-3`, then the script runs.",
        later_output: "psql:schema.sql:9: ERROR:  could not open extension control file \"/usr/share/postgresql/16/extension/postgis.control\": No such file or directory",
    },
    ReturningFailure {
        command: "git status",
        output: "fatal: detected dubious ownership in repository at '/workspace/billing'\nTo add an exception for this directory, call:\n\n\tgit config --global --add safe.directory /workspace/billing",
        remedy: "The container runs as root over a mounted checkout: `git config --global --add safe.directory '*'` in the dev container's setup.",
        later_output: "fatal: detected dubious ownership in repository at '/__w/invoicing/invoicing'\nTo add an exception for this directory, call:\n\n\tgit config --global --add safe.directory /__w/invoicing/invoicing",
    },
    ReturningFailure {
        command: "kubectl get pods",
        output: "E0109 15:47:03.004417   20718 memcache.go:265] couldn't get current server API group list\nerror: exec plugin: invalid apiVersion \"client.authentication.k8s.io/v1alpha1\"",
        remedy: "Rewrote the kubeconfig with a current CLI: `aws eks update-kubeconfig --name acme-dev`.",
        later_output: "E0412 10:22:41.330912   88213 memcache.go:265] couldn't get current server API group list\nerror: exec plugin: invalid apiVersion \"client.authentication.k8s.io/v1alpha1\"",
    },
    ReturningFailure {
        command: "flutter build apk",
        output: "Running Gradle task 'assembleRelease'...\n/home/dev/tracker/android/app/src/debug/AndroidManifest.xml Error:\n\tuses-sdk:minSdkVersion 16 cannot be smaller than version 21 declared in library [:flutter_secure_storage] /home/dev/tracker/build/flutter_secure_storage/intermediates/merged_manifest/release/AndroidManifest.xml as the library might be using APIs not available in 16\n\nFAILURE: Build failed with an exception.\n* What went wrong:\nExecution failed for task ':app:processReleaseMainManifest'.\n> Manifest merger failed with multiple errors, see logs\nGradle task assembleRelease failed with exit code 1",
        remedy: "Raised `minSdkVersion` to 21 in android/app/build.gradle.",
        later_output: "Launching lib/main.dart on SM G991B in debug mode...\n/Users/kim/src/tracker/android/app/src/main/AndroidManifest.xml Error:\n\tuses-sdk:minSdkVersion 16 cannot be smaller than version 21 declared in library [:mobile_scanner] /Users/kim/src/tracker/build/mobile_scanner/intermediates/merged_manifest/debug/AndroidManifest.xml as the library might be using APIs not available in 16\n\nFAILURE: Build failed with an exception.\n* What went wrong:\nExecution failed for task ':app:processStagingDebugMainManifest'.\n> Manifest merger failed with multiple errors, see logs\nGradle task assembleStagingDebug failed with exit code 1",
    },
    ReturningFailure {
        command: "git push origin feature/map-tiles",
        output: "Enumerating objects: 1204, done.\nCounting objects: 100% (1204/1204), done.\nWriting objects: 100% (1187/1187), 184.20 MiB | 6.11 MiB/s, done.\nerror: RPC failed; HTTP 413 curl 22 The requested URL returned error: 413\nsend-pack: unexpected disconnect while reading sideband packet\nfatal: the remote end hung up unexpectedly\nEverything up-to-date",
        remedy: "The reverse proxy caps HTTP bodies, so the remote was switched to ssh: `git remote set-url origin git@git.corp.example:maps/tiles.git`.",
        later_output: "Enumerating objects: 388, done.\nCounting objects: 100% (388/388), done.\nDelta compression using up to 16 threads\nWriting objects: 100% (371/371), 97.66 MiB | 11.40 MiB/s, done.\nerror: RPC failed; HTTP 413 curl 22 The requested URL returned error: 413\nsend-pack: unexpected disconnect while reading sideband packet\nfatal: the remote end hung up unexpectedly",
    },
    ReturningFailure {
        command: "go test ./...",
        output: "go: git.corp.example/platform/authkit@v1.8.0: reading https://proxy.golang.org/git.corp.example/platform/authkit/@v/v1.8.0.mod: 410 Gone\n\tserver response:\n\tnot found: git.corp.example/platform/authkit@v1.8.0: invalid version: git ls-remote -q origin in /tmp/gopath/pkg/mod/cache/vcs/5f2ac1b7: exit status 128:\n\t\tfatal: could not read Username for 'https://git.corp.example': terminal prompts disabled",
        remedy: "Private modules must bypass the proxy: `go env -w GOPRIVATE=git.corp.example/*` plus the ssh insteadOf rule in git config.",
        later_output: "go: git.corp.example/platform/authkit@v1.11.2: reading https://proxy.golang.org/git.corp.example/platform/authkit/@v/v1.11.2.mod: 410 Gone\n\tserver response:\n\tnot found: git.corp.example/platform/authkit@v1.11.2: invalid version: git ls-remote -q origin in /tmp/gopath/pkg/mod/cache/vcs/c09e77d1: exit status 128:\n\t\tfatal: could not read Username for 'https://git.corp.example': terminal prompts disabled",
    },
    ReturningFailure {
        command: "./gradlew assembleDebug",
        output: "FAILURE: Build failed with an exception.\n\n* Where:\nBuild file '/home/dev/courier/app/build.gradle'\n\n* What went wrong:\nCould not compile build file '/home/dev/courier/app/build.gradle'.\n> startup failed:\n  General error during conversion: Unsupported class file major version 65\n\n  java.lang.IllegalArgumentException: Unsupported class file major version 65\n\nBUILD FAILED in 3s",
        remedy: "Gradle 7.6 can't run on Java 21: `export JAVA_HOME=/usr/lib/jvm/java-17-openjdk` before calling gradlew.",
        later_output: "FAILURE: Build failed with an exception.\n\n* Where:\nSettings file '/builds/mobile/courier/settings.gradle'\n\n* What went wrong:\nCould not compile settings file '/builds/mobile/courier/settings.gradle'.\n> startup failed:\n  General error during conversion: Unsupported class file major version 65\n\n  java.lang.IllegalArgumentException: Unsupported class file major version 65\n\nBUILD FAILED in 11s",
    },
    ReturningFailure {
        command: "terraform plan",
        output: "╷\n│ Error: Error acquiring the state lock\n│\n│ Error message: ConditionalCheckFailedException: The conditional request failed\n│ Lock Info:\n│   ID:        3f0b7a52-11d9-4c0e-8a6d-5d2f1e9c7b10\n│   Path:      acme-tfstate/network/terraform.tfstate\n│   Operation: OperationTypeApply\n│   Who:       runner@ci-14\n│   Version:   1.5.7\n│   Created:   2024-01-18 07:41:33.120948 +0000 UTC\n│\n│ Terraform acquires a state lock to protect the state from being written\n│ by multiple users at the same time.\n╵",
        remedy: "The lock was left over from a cancelled CI job; after checking that nothing runs, `terraform force-unlock <ID>` released it.",
        later_output: "╷\n│ Error: Error acquiring the state lock\n│\n│ Error message: ConditionalCheckFailedException: The conditional request failed\n│ Lock Info:\n│   ID:        b8e64c1d-70aa-9f35-0c11-e2d4a90f6633\n│   Path:      acme-tfstate/dns/terraform.tfstate\n│   Operation: OperationTypePlan\n│   Who:       runner@ci-03\n│   Version:   1.6.2\n│   Created:   2024-03-29 21:05:10.770012 +0000 UTC\n│\n│ Terraform acquires a state lock to protect the state from being written\n│ by multiple users at the same time.\n╵",
    },
    ReturningFailure {
        command: "bundle install",
        output: "Installing pg 1.5.4 with native extensions\nGem::Ext::BuildError: ERROR: Failed to build gem native extension.\n\n    current directory: /home/dev/.rbenv/versions/3.2.2/lib/ruby/gems/3.2.0/gems/pg-1.5.4/ext\n/home/dev/.rbenv/versions/3.2.2/bin/ruby extconf.rb\nchecking for pg_config... no\n*** extconf.rb failed ***\nNo pg_config... trying anyway. If building fails, please try again with\n --with-pg-config=/path/to/pg_config\nCan't find the 'libpq-fe.h header\n\nAn error occurred while installing pg (1.5.4), and Bundler cannot continue.",
        remedy: "`sudo apt-get install libpq-dev` provides pg_config and the header; bundle install then finishes.",
        later_output: "Installing pg 1.5.6 with native extensions\nGem::Ext::BuildError: ERROR: Failed to build gem native extension.\n\n    current directory: /usr/local/bundle/gems/pg-1.5.6/ext\n/usr/local/bin/ruby -I /usr/local/lib/ruby/3.3.0 extconf.rb\nchecking for pg_config... no\n*** extconf.rb failed ***\nNo pg_config... trying anyway. If building fails, please try again with\n --with-pg-config=/path/to/pg_config\nCan't find the 'libpq-fe.h header\n\nAn error occurred while installing pg (1.5.6), and Bundler cannot continue.",
    },
];

#[rustfmt::skip]
pub(super) const FOURTH_UNKNOWN_FAILURES: &[&str] = &[
    "[ 62%] Building CXX object src/CMakeFiles/synth.dir/voice.cpp.o\n[ 64%] Linking CXX executable synth\n/usr/bin/ld: CMakeFiles/synth.dir/voice.cpp.o: in function `Voice::start()':\n/work/synth/src/voice.cpp:88: undefined reference to `jack_client_open'\ncollect2: error: ld returned 1 exit status\ngmake[2]: *** [src/CMakeFiles/synth.dir/build.make:212: src/synth] Error 1",
    "╷\n│ Error: Error loading state: AccessDenied: Access Denied\n│ \tstatus code: 403, request id: 7Q0Z5W1KX2, host id: u1Vh\n│\n│ Terraform failed to load the state from the configured S3 backend\n│ acme-tfstate/network/terraform.tfstate.\n╵",
    "Error: UPGRADE FAILED: template: search/templates/ingress.yaml:12:22: executing \"search/templates/ingress.yaml\" at <.Values.ingress.hosts>: nil pointer evaluating interface {}.hosts",
    "[+] Building 22.4s (7/11)\n => ERROR [build 4/5] RUN yarn build                                      17.9s\n------\n > [build 4/5] RUN yarn build:\n17.61 error Command failed with signal \"SIGKILL\".\n------\nDockerfile:9\n--------------------\n   8 |     COPY . .\n   9 | >>> RUN yarn build\n--------------------\nERROR: failed to solve: process \"/bin/sh -c yarn build\" did not complete successfully: exit code: 137",
    "python -m esptool --chip esp32 --port /dev/ttyUSB0 --baud 460800 write_flash 0x10000 build/node.bin\nesptool.py v4.6.2\nSerial port /dev/ttyUSB0\nConnecting......................................\n\nA fatal error occurred: Failed to connect to ESP32: Wrong boot mode detected (0x13)! The chip needs to be in download mode.\nmake: *** [Makefile:41: flash] Error 2",
    "go: errors parsing go.mod:\n/home/dev/relay/go.mod:3: invalid go version '1.22.1': must match format 1.23",
    "/Users/dev/Rider/Rider.xcodeproj: error: Signing for \"Rider\" requires a development team. Select a development team in the Signing & Capabilities editor. (in target 'Rider' from project 'Rider')\n** BUILD FAILED **",
    "Fetching gem metadata from https://rubygems.org/.........\nResolving dependencies...\nCould not find compatible versions\n\nBecause rails >= 7.1.0 depends on rack >= 2.2.4\n  and grape-legacy >= 0.2 depends on rack < 2.0,\n  rails >= 7.1.0 is incompatible with grape-legacy >= 0.2.\nSo, because Gemfile depends on rails ~> 7.1\n  and Gemfile depends on grape-legacy ~> 0.2,\n  version solving has failed.",
    "TASK [app : render unit file] **************************************************\nfatal: [app-1]: FAILED! => {\"changed\": false, \"msg\": \"AnsibleUndefinedVariable: 'app_port' is undefined. 'app_port' is undefined\"}\n\nPLAY RECAP *********************************************************************\napp-1                      : ok=3    changed=1    unreachable=0    failed=1",
    "Running Gradle task 'assembleRelease'...\nlib/screens/track_view.dart:77:19: Error: The getter 'bodyText1' isn't defined for the class 'TextTheme'.\n - 'TextTheme' is from 'package:flutter/src/material/text_theme.dart'.\n        style: theme.bodyText1,\n                     ^^^^^^^^^\nTarget kernel_snapshot failed: Exception\n\nFAILURE: Build failed with an exception.\n* What went wrong:\nExecution failed for task ':app:compileFlutterBuildRelease'.\nGradle task assembleRelease failed with exit code 1",
    "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.11.0:compile (default-compile) on project tariff-core: Fatal error compiling: error: release version 21 not supported -> [Help 1]\n[ERROR]\n[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.",
    "> storefront@1.12.0 build\n> webpack --mode production\n\nERROR in ./src/cart/Summary.jsx 14:9\nModule not found: Error: Can't resolve '../money/format' in '/home/dev/storefront/src/cart'\n @ ./src/cart/index.js 3:0-32\n\nwebpack 5.90.3 compiled with 1 error in 8112 ms",
    "    Checking ledger v0.6.0 (/home/dev/ledger)\nerror[E0277]: the trait bound `Iban: sqlx::Decode<'_, Postgres>` is not satisfied\n  --> src/repo/accounts.rs:61:14\n   |\n61 |         .fetch_one(&self.pool)\n   |          ^^^^^^^^^ the trait `sqlx::Decode<'_, Postgres>` is not implemented for `Iban`\n\nerror: could not compile `ledger` (lib) due to 1 previous error",
    "BEGIN\npsql:migrations/004_zones.sql:7: ERROR:  permission denied for schema geo\nLINE 1: create table geo.zones (\n                     ^\npsql:migrations/004_zones.sql:9: ERROR:  current transaction is aborted, commands ignored until end of transaction block\nROLLBACK",
    "  Tariff.Tests -> /home/dev/Tariff/tests/bin/Debug/net6.0/Tariff.Tests.dll\nStarting test execution, please wait...\n  Failed Tariff.Tests.ZoneTests.Night_rate_applies [14 ms]\n  Error Message:\n   Assert.Equal() Failure: Values differ\nExpected: 0.2210\nActual:   0.2840\n\nFailed!  - Failed:     1, Passed:   203, Skipped:     0, Total:   204, Duration: 1 s",
    "TASK [Gathering Facts] *********************************************************\nfatal: [web-03]: UNREACHABLE! => {\"changed\": false, \"msg\": \"Failed to connect to the host via ssh: Host key verification failed.\", \"unreachable\": true}\n\nPLAY RECAP *********************************************************************\nweb-03                     : ok=0    changed=0    unreachable=1    failed=0",
    "CMake Error at CMakeLists.txt:1 (cmake_minimum_required):\n  CMake 3.25 or higher is required.  You are running version 3.22.1\n\n-- Configuring incomplete, errors occurred!",
    "  Determining projects to restore...\n/home/dev/Claims/src/Claims.Api/Claims.Api.csproj : error NU1605: Warning As Error: Detected package downgrade: Serilog from 3.1.1 to 2.12.0. Reference the package directly from the project to select a different version.\n/home/dev/Claims/src/Claims.Api/Claims.Api.csproj : error NU1605:  Claims.Api -> Claims.Common -> Serilog (>= 3.1.1)\n  Failed to restore /home/dev/Claims/src/Claims.Api/Claims.Api.csproj (in 412 ms).",
    "INFO  [alembic.runtime.migration] Context impl PostgresqlImpl.\nINFO  [alembic.runtime.migration] Will assume transactional DDL.\nERROR [alembic.util.messaging] Can't locate revision identified by 'a91f03c7be22'\nFAILED: Can't locate revision identified by 'a91f03c7be22'",
    "npm ERR! code EINTEGRITY\nnpm ERR! sha512-q1Zz0vY8 integrity checksum failed when using sha512: wanted sha512-q1Zz0vY8 but got sha512-77TaLm0c. (118204 bytes)\nnpm ERR!\nnpm ERR! A complete log of this run can be found in: /root/.npm/_logs/2024-04-09T10_11_52_310Z-debug-0.log",
];
