package dev.stoker.cli.change;

import dev.stoker.cli.output.Columns;
import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.samples.OpenDataset;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Tags;
import dev.stoker.metadata.version.VersionName;
import dev.stoker.schemas.dataset.Tag;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.text.ShellText;
import dev.stoker.schemas.text.Units;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.InstantSource;
import java.util.Collection;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker tag}: lists the tags of a dataset, and sets, moves and deletes them. */
@Command(
        name = "tag",
        header = {
            "Examples:",
            "  stoker tag ./data/photos",
            "  stoker tag ./data/photos paper 7",
            "  stoker tag ./data/photos best --move"
        },
        description = {
            "Lists the tags of a dataset, or gives a version a name. DATASET@NAME then selects the version.",
            "A tag names the same version until --move or --delete changes it."
        },
        sortOptions = false)
public final class TagVerb implements Callable<Integer> {

    private static final Columns<Tag> COLUMNS = new Columns<Tag>()
            .text("TAG", "tag", Tag::name)
            .number("VERSION", "version", Tag::version)
            .cell("SINCE", tag -> Units.date(tag.created().toEpochMilli()))
            .key("created", tag -> tag.created().toString())
            .text("BY", "by", Tag::by);

    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "DATASET", description = "Directory or URI of the dataset.")
    private String path;

    @Parameters(index = "1", arity = "0..1", paramLabel = "NAME", description = "Name of the tag. Default: list all.")
    private @Nullable String name;

    @Parameters(
            index = "2",
            arity = "0..1",
            paramLabel = "VERSION",
            description = "Number or tag of the version. Default: the newest.")
    private @Nullable String version;

    @Option(names = "--move", description = "Move the tag if it names another version.")
    private boolean move;

    @Option(names = "--delete", description = "Delete the tag. Its version stays.")
    private boolean delete;

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        if (name == null && (move || delete)) {
            throw new IllegalArgumentException((move ? "--move" : "--delete") + " needs the name of a tag");
        }
        if (delete && (move || version != null)) {
            throw new IllegalArgumentException("--delete takes neither --move nor a version");
        }
        try (OpenDataset open = OpenDataset.open(path)) {
            open.requireNoVersion("stoker tag");
            Tags tags = new Tags(open.dataset());
            if (name == null) {
                list(tags.all().values());
            } else if (delete) {
                Stores.requireAtomicCreate(open.dataset().store());
                delete(name, tags);
            } else {
                Stores.requireAtomicCreate(open.dataset().store());
                set(name, tags, open.dataset());
            }
            return 0;
        }
    }

    private void set(String tag, Tags tags, Dataset dataset) throws IOException {
        long chosen = version == null ? dataset.snapshot().version() : new VersionName(version).in(dataset);
        Tag set = tags.set(tag, chosen, move ? Tags.Mode.MOVE : Tags.Mode.CREATE, InstantSource.system(), user());
        print(set, "tag " + set.name() + " names version " + set.version());
    }

    private void delete(String tag, Tags tags) throws IOException {
        Tag deleted = tags.delete(tag, InstantSource.system(), user())
                .orElseThrow(() ->
                        new CommandException("there is no tag " + tag + "; see stoker tag " + ShellText.word(path)));
        print(deleted, "deleted tag " + deleted.name() + ", which named version " + deleted.version());
    }

    private static String user() {
        return System.getProperty("user.name");
    }

    private void print(Tag tag, String text) {
        spec.commandLine()
                .getOut()
                .println(json ? COLUMNS.put(Json.object(), tag).toString() : text);
    }

    private void list(Collection<Tag> tags) {
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(COLUMNS.add(Json.array(), tags));
        } else if (tags.isEmpty()) {
            out.println("no tags; add one with: stoker tag " + ShellText.word(path) + " NAME [VERSION]");
        } else {
            COLUMNS.print(tags, out);
        }
    }
}
