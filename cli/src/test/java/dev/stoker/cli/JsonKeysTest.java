package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.schemas.json.Json;
import dev.stoker.server.TestDataset;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import picocli.CommandLine;

/**
 * {@code json-keys.txt} has the keys of what each verb prints with {@code --json}, and the kinds of their values.
 *
 * <p>A key of a key is {@code a.b}, a key of the items of an array {@code a[].b}. Programs read these keys, so a change
 * of the file is a change for users.
 */
@Timeout(180)
class JsonKeysTest extends DatasetVerbs {

    /** Verbs that start other processes: {@link OtherResults} has their results. */
    private static final Set<String> OTHERS = Set.of("run", "bench feed");

    /** The commands in their order; each begins with its exit code. */
    private static final String COMMANDS = """
            0 ingest TREE WORK/ingested --dry-run
            0 ingest TREE WORK/ingested
            0 ingest TABLE WORK/rows --key key --dry-run
            0 ingest TABLE WORK/rows --key key
            0 ingest BAD WORK/bad --key key --label class --type age=int8 --on-error skip
            0 sync TREE WORK/ingested --dry-run
            0 sync TREE WORK/ingested
            0 export DATASET WORK/exported --format parquet --dry-run
            0 export DATASET WORK/exported --format parquet
            0 info DATASET
            0 info DATASET --chunks
            0 info DATASET --samples
            0 show DATASET
            0 ls DATASET
            0 ls DATASET --recursive
            0 stat DATASET KEY
            0 stat DATASET nowhere
            0 get DATASET KEY
            0 log DATASET
            0 verify DATASET
            0 tag DATASET best 1
            0 tag DATASET
            0 tag DATASET best --delete
            0 diff DATASET 1 2
            0 diff DATASET 1 2 --keys
            0 index DATASET
            0 index DATASET --check
            0 delete DATASET OTHER --dry-run
            0 delete DATASET OTHER --yes
            0 update DATASET TABLE --dry-run
            0 update DATASET TABLE --yes
            0 compact DATASET --dry-run
            0 compact DATASET
            0 log DATASET
            0 copy DATASET WORK/copy --dry-run
            0 copy DATASET WORK/copy
            0 mirror DATASET WORK/copy --dry-run
            0 mirror DATASET WORK/copy
            1 verify WORK/damaged
            0 gc WORK/copy --older-than 0
            0 delete WORK/rows KEY --erase --dry-run
            0 delete WORK/rows KEY --erase --certificate WORK/proof.json --yes
            0 verify WORK/rows --erased WORK/proof.json
            0 expire DATASET --keep-last 1 --dry-run
            0 expire DATASET --keep-last 1 --yes
            0 gc DATASET --older-than 0
            0 gc DATASET --older-than 0 --yes
            0 rebuild WORK/chunks-only --dry-run
            0 rebuild WORK/chunks-only
            0 cache ls WORK/tier
            0 cache clear WORK/tier
            0 cache purge WORK/tier --erased WORK/proof.json
            0 ps --all
            0 top FEED --once
            0 audit FEED
            1 audit FEED --epochs 1
            0 why --feed FEED --step 0
            0 why --feed FEED --key LAST
            0 bench storage WORK --size 64k --block-size 4k --depth 1 --seconds 0.01 --rounds 1
            0 bench demand --shape unet3d
            0 bench report WORK/demand.json -o WORK/page.html
            1 verify WORK/ingested
            0 recover WORK/ingested
            0 recover WORK/ingested --yes""";

    @Test
    void eachKeyIsAsRecorded() throws IOException {
        dataset.append(4, 100, 3);
        Path work = Files.createDirectories(directory.resolve("work"));
        Path tree = Files.createDirectories(directory.resolve("tree/cat"));
        Files.writeString(tree.resolve("1.txt"), "purr");
        Path table = Files.writeString(
                directory.resolve("updates.csv"), "key,score\n" + key(0, 0) + ",0.5\n" + key(1, 0) + ",0.25\n");
        Path bad = Files.writeString(directory.resolve("bad.csv"), "key,class,age\na,cat,300\nb,,7\n");
        EveryVerb.chunksOnly(dataset.path(), work);
        tier(work.resolve("tier"));
        damaged(work.resolve("damaged"));
        SoftAssertions codes = new SoftAssertions();
        StringBuilder keys = new StringBuilder();
        Set<String> seen = new TreeSet<>(OTHERS);
        try (RunningFeed feed = new RunningFeed(dataset)) {
            Map<String, String> words = Map.of(
                    "DATASET", path(),
                    "WORK", work.toString(),
                    "TREE", tree.getParent().toString(),
                    "TABLE", table.toString(),
                    "BAD", bad.toString(),
                    "FEED", feed.name(),
                    "KEY", key(0, 0),
                    "OTHER", key(0, 1),
                    "LAST", key(1, 1));
            for (String line : COMMANDS.lines().toList()) {
                String command = line.substring(2);
                before(command, work);
                int code = stoker(Stream.of((command + " --json").split(" "))
                        .map(word -> replaced(word, words))
                        .toArray(String[]::new));
                codes.assertThat(code).as("%s: %s%s", command, out, err).isEqualTo(line.charAt(0) - '0');
                add(keys, "stoker " + command + " --json", feed.name());
                seen.add(verb(command));
            }
            for (Map.Entry<String, JsonNode> result : OtherResults.of(feed).entrySet()) {
                print(result.getValue());
                add(keys, result.getKey(), feed.name());
            }
        }
        codes.assertAll();
        assertThat(seen).as("verbs with --json").isEqualTo(verbsWithJson());
        Recorded.check(Recorded.SNAPSHOTS.resolve("json-keys.txt"), keys.toString(), JsonKeysTest.class);
    }

    private void print(JsonNode value) {
        out.getBuffer().setLength(0);
        out.append(value.toString());
    }

    /** Adds the keys of the last output. */
    private void add(StringBuilder keys, String command, String feed) throws IOException {
        keys.append("$ ").append(command).append('\n');
        kinds(feed)
                .forEach(
                        (key, kind) -> keys.append(key).append(' ').append(kind).append('\n'));
        keys.append('\n');
    }

    /** Prepares what a command looks at. */
    private void before(String command, Path work) throws IOException {
        switch (command) {
            case "bench report WORK/demand.json -o WORK/page.html" ->
                Files.writeString(work.resolve("demand.json"), out.toString());
            case "gc WORK/copy --older-than 0" -> leaveALeaseAndAnOrphan(work.resolve("copy"));
            case "verify WORK/ingested" -> {
                Path entry = work.resolve("ingested/_stoker/log/00000000000000000001.avro");
                Files.write(entry, Arrays.copyOf(Files.readAllBytes(entry), 60));
            }
            default -> {}
        }
    }

    /** Makes a dataset with a flipped bit in a payload. */
    private static void damaged(Path path) throws IOException {
        TestDataset damaged = TestDataset.create(path, 3, 100, 5);
        byte[] bytes = Files.readAllBytes(damaged.file(0));
        bytes[(int) damaged.summary(0).headLength() + 3] ^= 1;
        Files.write(damaged.file(0), bytes);
    }

    private static void leaveALeaseAndAnOrphan(Path copy) throws IOException {
        try (ObjectStore store = new LocalObjectStore(copy)) {
            new Leases(Dataset.open(store)).take("slow", Clock.systemUTC(), "ada@host", "");
        }
        Path orphan = copy.resolve("chunks/7f/018f0000-0000-7000-8000-00000000007f.arrow");
        Files.write(Files.createDirectories(orphan.getParent()).resolve(orphan.getFileName()), new byte[10]);
    }

    private static void tier(Path tier) throws IOException {
        Path space = Files.createDirectories(tier.resolve("6f1d2c3b-4a59-5687-8000-000000000001"));
        Files.write(space.resolve("loads.lock"), new byte[0]);
        Path chunks = Files.createDirectories(space.resolve("7f"));
        Files.write(chunks.resolve("018f0000-0000-7000-8000-00000000007f.arrow"), new byte[1000]);
    }

    private static String verb(String command) {
        String[] words = command.split(" ");
        return words[0].equals("bench") ? words[0] + " " + words[1] : words[0];
    }

    private static Set<String> verbsWithJson() {
        Set<String> verbs = new TreeSet<>();
        add(verbs, "", Stoker.command());
        return verbs;
    }

    private static void add(Set<String> verbs, String parent, CommandLine command) {
        command.getSubcommands().forEach((name, verb) -> {
            if (verb.getCommandSpec().findOption("--json") != null) {
                verbs.add(parent + name);
            }
            add(verbs, name + " ", verb);
        });
    }

    private static String replaced(String word, Map<String, String> words) {
        int end = word.indexOf('/');
        String first = end < 0 ? word : word.substring(0, end);
        return words.containsKey(first) ? words.get(first) + word.substring(first.length()) : word;
    }

    /** Returns the keys of the last output with the kinds of their values. Plans of jobs are text even so. */
    private Map<String, String> kinds(String feed) throws IOException {
        Map<String, String> kinds = new TreeMap<>();
        if (!out.toString().matches("(?s)[\\[{].*")) {
            kinds.put("(no JSON)", out.toString().isEmpty() ? "nothing" : "text");
            return kinds;
        }
        try (JsonParser parser = Json.PLAIN.createParser(out.toString());
                MappingIterator<JsonNode> values = Json.PLAIN.readValues(parser, JsonNode.class)) {
            while (values.hasNext()) {
                JsonNode value = values.next();
                // These depend on the machine: notes of measurements, and feeds of other programs.
                if (value.has("machine")) {
                    ((ObjectNode) value).remove("notes");
                }
                if (value.isArray() && value.at("/0/ledger").isTextual()) {
                    ((ArrayNode) value)
                            .removeIf(entry -> !entry.path("name").asText().equals(feed));
                }
                add(kinds, "", value);
            }
        }
        return kinds;
    }

    private static void add(Map<String, String> kinds, String path, JsonNode value) {
        if (value.isArray() && !value.isEmpty()) {
            value.forEach(item -> add(kinds, path + "[]", item));
        } else if (value.isObject() && !value.isEmpty()) {
            value.properties().forEach(entry -> add(kinds, path + "." + entry.getKey(), entry.getValue()));
        } else {
            String kind = value.isContainerNode() ? "empty " + kind(value) : kind(value);
            String key = path.replaceFirst("^\\.", "");
            Set<String> all = new TreeSet<>(Set.of(kinds.getOrDefault(key, kind).split("\\|")));
            all.add(kind);
            kinds.put(key, String.join("|", all));
        }
    }

    private static String kind(JsonNode value) {
        return value.getNodeType().name().toLowerCase(Locale.ROOT);
    }
}
