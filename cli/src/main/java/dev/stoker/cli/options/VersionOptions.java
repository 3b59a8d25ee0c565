package dev.stoker.cli.options;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.version.VersionName;
import dev.stoker.metadata.version.VersionTimes;
import java.io.IOException;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of a verb that reads a version: its number, a tag, or a time. */
public final class VersionOptions {

    @Option(
            names = "--version",
            paramLabel = "NAME",
            description = "Version to read: a number or a tag. Default: the newest.")
    private @Nullable String version;

    @Option(
            names = "--as-of",
            paramLabel = "TIME",
            description = "Read the newest version of a time: 2026-11-20, 2026-11-20T10:00, 2026-11-20T10:00Z, or a"
                    + " time ago: 36h, 7d.")
    private @Nullable String asOf;

    /**
     * Returns the version that the options or the name of the dataset select; empty for the newest one.
     *
     * @param typed the version in the name of the dataset, if there is one
     * @throws IllegalArgumentException if two versions are selected
     */
    public OptionalLong in(Dataset dataset, Optional<VersionName> typed) throws IOException {
        if (version != null && asOf != null) {
            throw new IllegalArgumentException("--version and --as-of give two versions");
        }
        if (asOf != null) {
            if (typed.isPresent()) {
                throw new IllegalArgumentException("@" + typed.get() + " and --as-of give two versions");
            }
            return OptionalLong.of(VersionTimes.find(dataset, VersionTimes.parse(asOf)));
        }
        if (version == null) {
            return typed.isPresent() ? OptionalLong.of(typed.get().in(dataset)) : OptionalLong.empty();
        }
        if (typed.isPresent() && !typed.get().text().equals(version)) {
            throw new IllegalArgumentException("@" + typed.get() + " and --version " + version + " give two versions");
        }
        return OptionalLong.of(name(version).in(dataset));
    }

    /** Rejects the options beside another one that concerns all versions. */
    public void requireNone(String option) {
        if (version != null || asOf != null) {
            throw new IllegalArgumentException(option + " concerns all versions; leave out --version and --as-of");
        }
    }

    /**
     * Returns the version for a feed, which knows neither tags nor times; empty for the feed's own.
     *
     * @throws IllegalArgumentException if the options give no number
     */
    public OptionalLong number() {
        if (asOf != null) {
            throw new IllegalArgumentException("--as-of cannot be combined with --feed; give the number of a version");
        }
        if (version == null) {
            return OptionalLong.empty();
        }
        if (!version.matches("[1-9][0-9]{0,17}")) {
            throw new IllegalArgumentException(
                    "--version " + version + " is a tag, which cannot be combined with --feed; give a number");
        }
        return OptionalLong.of(Long.parseLong(version));
    }

    private static VersionName name(String text) {
        try {
            return new VersionName(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("option --version: " + e.getMessage(), e);
        }
    }
}
