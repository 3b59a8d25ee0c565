package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.cli.look.CatVerb;
import dev.stoker.cli.look.GetVerb;
import dev.stoker.cli.output.Errors;
import dev.stoker.metadata.Dataset;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.testing.Advice;
import dev.stoker.storage.LocalObjectStore;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Follows the advice of verbs that read a dataset. */
class ReadAdviceTest extends AdvisedVerbs {

    private Path keys() throws IOException {
        return Files.writeString(directory.resolve("keys.txt"), key(0, 0));
    }

    @Test
    void keysOfSamples() throws IOException {
        assertHelps(2, List.of("--keys-from", keys().toString()), "stat", path());
        assertHelps(2, List.of("--keys-from", keys().toString()), "stat", path(), key(0, 1), "--null");
        assertThat(said(2, "ls")).contains("name a dataset, or a feed with --feed");
        assertThat(said(2, "stat", path(), key(0, 0), "--stream", "val")).contains("--stream needs --feed");
        assertThat(said(2, "ls", path(), "a", "--feed", "photos")).contains("give either a dataset or --feed");
    }

    @Test
    void severalSamples() throws IOException {
        Path to = directory.resolve("to");
        String[] get = {"get", path(), key(0, 0), key(0, 1)};
        assertHelps(2, List.of("--to", to.toString()), get);
        assertHelps(2, "--json", get);
        assertThat(said(1, "get", path(), key(0, 0), "--to", to.toString()))
                .contains("choose an empty directory with --to");
        said(0, "get", path(), key(0, 0), "--to", directory.resolve("empty").toString());
        assertLeftOutHelps(
                2,
                "--json and --to exclude each other",
                "--json",
                "get",
                path(),
                key(0, 0),
                "--to=" + directory.resolve("third"),
                "--json");
    }

    @Test
    void fieldsOfSamples() throws IOException {
        Path table = Files.writeString(directory.resolve("t.csv"), "a,b,n\nx,y,1\n");
        String two = directory.resolve("two texts").toString();
        said(0, "ingest", table.toString(), two, "--type", "a=utf8", "--parallelism", "1");
        String key = "t.csv#0";
        String[] get = {"get", two, key, "--to", directory.resolve("to").toString()};
        assertThat(said(2, get)).contains("choose one of a, b with --field");
        assertHelps(2, List.of("--field", "a"), get);
        assertThat(said(2, "cat", two, key)).contains("choose one of a, b with --field");
        said(0, "cat", two, key, "--field", "b");
        assertThat(said(2, "cat", two, key, "--field", "n")).contains("stoker get --json prints the other fields");
        said(0, "get", two, key, "--json");
        String numbers = directory.resolve("numbers").toString();
        said(0, "ingest", table.toString(), numbers, "--columns", "n", "--key", "a", "--parallelism", "1");
        assertThat(said(2, "cat", numbers, "x", "--field", "n")).contains("stoker get --json prints its fields n");
        said(0, "get", numbers, "x", "--json");
    }

    @Test
    void binaryDataOnATerminal() {
        ByteArrayOutputStream raw = new ByteArrayOutputStream();
        CommandLine get = new CommandLine(new GetVerb(raw, () -> true))
                .setErr(new PrintWriter(err, true))
                .setExecutionExceptionHandler(Errors::failed);
        assertThat(get.execute(path(), key(0, 0))).isEqualTo(1);
        assertThat(err.toString()).contains("use stoker cat --force");
        CommandLine cat = new CommandLine(new CatVerb(raw, () -> true));
        assertThat(cat.execute(path(), key(0, 0), "--force")).isZero();
        assertThat(raw.toByteArray()).isEqualTo(dataset.samples(0).get(0).image());
    }

    @Test
    void imagesOfSamples() {
        for (List<String> option :
                List.of(List.of("--width", "3"), List.of("--graphics", "text"), List.of("--field", "image"))) {
            assertThat(said(2, "show", path(), option.get(0), option.get(1)))
                    .contains("--width, --graphics, --field and --output need --image");
        }
        Path image = directory.resolve("1.jpg");
        assertHelps(2, "--image", "show", path(), key(0, 0), "--output", image.toString());
        assertThat(image).exists();
        assertThat(said(1, "show", path(), key(0, 0), "--image")).contains("stoker cat prints it");
        said(0, "cat", path(), key(0, 0));
        assertLeftOutHelps(2, "--image and --json exclude each other", "--image", "show", path(), "--image", "--json");
        assertLeftOutHelps(
                2, "--split and KEY exclude each other", "--split=train", "show", path(), key(0, 0), "--split=train");
    }

    @Test
    void versions() {
        String[] two = {"info", path() + "@1", "--as-of=0s"};
        assertLeftOutHelps(2, "@1 and --as-of give two versions", "--as-of=0s", two);
        String[] options = {"info", path(), "--version=1", "--as-of=0s"};
        assertLeftOutHelps(2, "--version and --as-of give two versions", "--as-of=0s", options);
        assertLeftOutHelps(2, "--version and --as-of give two versions", "--version=1", options);
        assertLeftOutHelps(
                2, "@1 and --version 2 give two versions", "--version=2", "info", path() + "@1", "--version=2");
        assertThat(said(2, "stat", "--feed", "photos", key(0, 0), "--as-of", "0s"))
                .contains("give the number of a version");
        assertThat(said(2, "stat", "--feed", "photos", key(0, 0), "--version", "best"))
                .contains("give a number");
        assertThat(said(1, "stat", "--feed", "photos", key(0, 0), "--version", "1"))
                .contains("photos");
        said(0, "delete", path(), key(0, 0), "--erase", "--yes", "--certificate", directory + "/proof.json");
        String[] erased = {"verify", path(), "--erased=" + directory + "/proof.json", "--version=2"};
        assertLeftOutHelps(2, "leave out --version and --as-of", "--version=2", erased);
    }

    @Test
    void placesThatRedisKeeps() {
        String[] both = {"stat", "--feed=photos", key(0, 0), "--redis=redis://127.0.0.1:1"};
        assertThat(said(2, both)).contains("--redis and --feed exclude each other");
        String[] stat = {"stat", path(), key(0, 0), "--redis=redis://127.0.0.1:1"};
        said(0, stat);
        String[] index = {"index", path(), "--redis=redis://127.0.0.1:1"};
        assertLeftOutHelps(1, "check the server, or leave out --redis", "--redis=redis://127.0.0.1:1", index);
    }

    @Test
    void theOrderOfAnEpoch() throws IOException {
        String stream = path() + ":train";
        String order = OrderSpec.defaults().toJson();
        Path state = directory.resolve("state.json");
        try (var store = new LocalObjectStore(dataset.path())) {
            Files.writeString(
                    state,
                    "{\"stoker\":1,\"fingerprint\":\"0\",\"epoch\":0,\"batch\":0,\"dataset\":\""
                            + Dataset.open(store).info().id() + "\",\"version\":1,\"split\":\"train\",\"order\":"
                            + order + "}");
        }
        assertThat(said(2, "why", "--step=0")).contains("give --feed NAME, or a dataset with --state or --order");
        String[] why = {"why", stream, "--step=0"};
        assertHelps(2, List.of("--state", state.toString()), why);
        assertHelps(2, List.of("--order", order), why);
        String[] nothing = {"why", stream, "--order", order};
        assertHelps(2, List.of("--step", "0"), nothing);
        assertHelps(2, List.of("--batch", "0"), nothing);
        assertHelps(2, List.of("--key", key(0, 0)), nothing);
        assertThat(said(2, "why", stream, "--order", order, "--batch=0", "--rank=0"))
                .contains("--rank needs --step");
        said(0, "why", stream, "--order", order, "--step=0", "--rank=0");
        assertThat(said(2, "why", stream, "--order", order, "--step=0", "--epochs=2"))
                .contains("needs --key");
        said(0, "why", stream, "--order", order, "--key", key(0, 0), "--epochs=2");
        assertThat(said(2, "why", stream, "--order", order, "--batch=0", "--start=0"))
                .contains("--start needs --step or --key");
        said(0, "why", stream, "--order", order, "--step=0", "--start=0");
        assertThat(said(0, "why", stream, "--order", order, "--key", key(0, 0), "--start=1"))
                .contains("before --start");
        assertThat(said(0, "why", stream, "--order", order, "--key", key(0, 0), "--world-size=2", "--tail=drop"))
                .contains("left out by --tail drop");
    }

    @Test
    void aDirectoryOfDatasets() throws IOException {
        String said = said(1, "sql", path(), "-e", "SELECT 1");
        List<String> words = Advice.command(said, "stoker sql");
        assertThat(words).containsExactly("sql", directory.toString());
        assertThat(said(1, "info", directory.resolve("none").toString()))
                .contains("pack a dataset there with `stoker ingest`");
        Path table = Files.writeString(directory.resolve("t.csv"), "a\n1\n");
        said(0, "ingest", table.toString(), directory.resolve("none").toString(), "--parallelism", "1");
    }

    @Test
    void aPortThatIsTaken() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThat(said(1, "browse", path(), "--port", Integer.toString(taken.getLocalPort())))
                    .contains("give another one with --port, or 0 for any");
        }
    }

    @Test
    void otherWordsForVerbs() {
        assertThat(said(2, "append")).contains("did you mean ingest --append?");
        assertThat(said(2, "ingest", "--append")).doesNotContain("--append");
        assertThat(said(2, "erase")).contains("did you mean delete --erase?");
        said(0, "delete", path(), key(0, 0), "--erase");
    }

    @Test
    void helpOfVerbs() {
        for (String verb : List.of("info", "ingest", "feed", "export")) {
            String said = said(2, verb, "--bogus", "x");
            assertThat(said).contains("see stoker " + verb + " --help");
            follow(said, "stoker " + verb);
        }
        assertThat(said(2, "run", path())).contains("as in: stoker run DATASET -- python train.py");
        assertThat(said(2, "feed", path(), "--", "x")).contains("only stoker run takes a command after --");
    }
}
