package dev.stoker.cli.output;

import java.util.Map;
import java.util.Optional;

/** Suggests verbs for words of other tools. */
final class Suggestions {

    /** Words of other tools. */
    private static final Map<String, String> VERBS = Map.ofEntries(
            Map.entry("list", "ls (samples), ps (feeds) or info (a dataset)"),
            Map.entry("status", "ps or top"),
            Map.entry("watch", "top"),
            Map.entry("monitor", "top"),
            Map.entry("start", "feed or run"),
            Map.entry("serve", "feed"),
            Map.entry("train", "run"),
            Map.entry("exec", "run"),
            Map.entry("kill", "stop"),
            Map.entry("end", "stop"),
            Map.entry("pack", "ingest"),
            Map.entry("import", "ingest"),
            Map.entry("load", "ingest"),
            Map.entry("add", "ingest --append"),
            Map.entry("append", "ingest --append"),
            Map.entry("create", "ingest"),
            Map.entry("check", "verify (the chunks) or audit (what was delivered)"),
            Map.entry("fsck", "verify"),
            Map.entry("validate", "verify"),
            Map.entry("describe", "info"),
            Map.entry("schema", "info"),
            Map.entry("history", "log"),
            Map.entry("versions", "log"),
            Map.entry("head", "show"),
            Map.entry("read", "get or cat"),
            Map.entry("lookup", "stat"),
            Map.entry("rm", "delete (samples) or gc (files of no version)"),
            Map.entry("remove", "delete"),
            Map.entry("del", "delete"),
            Map.entry("erase", "delete --erase"),
            Map.entry("set", "update"),
            Map.entry("edit", "update"),
            Map.entry("relabel", "update"),
            Map.entry("cp", "copy"),
            Map.entry("clone", "copy"),
            Map.entry("backup", "copy or mirror"),
            Map.entry("reindex", "index"),
            Map.entry("clean", "gc"),
            Map.entry("prune", "gc"),
            Map.entry("vacuum", "gc"));

    private Suggestions() {}

    /** Returns the verb for a word that is not a verb. */
    static Optional<String> verb(String word) {
        return Optional.ofNullable(VERBS.get(word));
    }
}
