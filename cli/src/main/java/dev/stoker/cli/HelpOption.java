package dev.stoker.cli;

import picocli.CommandLine.Option;

/** {@code --help}, for a verb whose {@code --version} is a dataset's. */
final class HelpOption {

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help.")
    private boolean help;
}
