package dev.stoker.cli.browse;

import dev.stoker.cli.options.VersionOptions;
import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.output.Errors;
import dev.stoker.cli.output.Signals;
import dev.stoker.cli.samples.OpenDataset;
import dev.stoker.metadata.Snapshot;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.BindException;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker browse}: shows a dataset in a web browser. */
@Command(
        name = "browse",
        header = {
            "Examples:",
            "  stoker browse ./data/photos --open",
            "  stoker browse s3a://bucket/photos@3 --port 7450"
        },
        description = {
            "Shows the samples and versions of a dataset on a web page. The page has pictures, sound, text and all"
                    + " metadata, samples by class or key, and differences between versions. It is there until the"
                    + " command is stopped.",
            "Only browsers on this machine reach the page. Scripts in samples never run."
        },
        sortOptions = false)
public final class BrowseVerb implements Callable<Integer> {

    /** Ports that are tried in turn, so that the address is usually the same. */
    private static final int FIRST_PORT = 7450;

    private static final int LAST_PORT = 7469;

    @Spec
    private CommandSpec spec;

    @Parameters(
            paramLabel = "DATASET",
            description = "Directory or URI of the dataset; DATASET@3 names version 3, DATASET@best a tag.")
    private String path;

    @Mixin
    private VersionOptions version = new VersionOptions();

    @Option(
            names = "--port",
            paramLabel = "PORT",
            description = "Port of the page; 0 for any. Default: the first free one of 7450 to 7469, or any.")
    private @Nullable Integer port;

    @Option(names = "--open", description = "Open the page in the browser.")
    private boolean open;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (port != null && (port < 0 || port > 65_535)) {
            throw new IllegalArgumentException("option --port: " + port + " is not a port");
        }
        CountDownLatch end = new CountDownLatch(1);
        try (OpenDataset dataset = OpenDataset.open(path, version);
                Signals signals = new Signals()) {
            signals.onStop(end::countDown);
            Snapshot snapshot = dataset.snapshot();
            try (BrowseServer server = listen(dataset, snapshot);
                    BrowserStart browser = open ? BrowserStart.at(server.url()) : BrowserStart.none()) {
                PrintWriter out = spec.commandLine().getOut();
                out.println(snapshot.info().name() + " version " + snapshot.version() + " is shown at " + server.url()
                        + " until you press Ctrl-C");
                out.flush();
                browser.problem().ifPresent(spec.commandLine().getErr()::println);
                end.await();
            }
            return 0;
        }
    }

    private BrowseServer listen(OpenDataset dataset, Snapshot shown) throws IOException {
        int first = port == null ? FIRST_PORT : port;
        int last = port == null ? LAST_PORT : port;
        for (int number = first; number <= last; number++) {
            try {
                return new BrowseServer(dataset.dataset(), shown, number);
            } catch (BindException e) {
                if (port != null) {
                    throw new CommandException(
                            "port " + port + " is taken; give another one with --port, or 0 for any", Errors.FAILED, e);
                }
            }
        }
        return new BrowseServer(dataset.dataset(), shown, 0);
    }
}
