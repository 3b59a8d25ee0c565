package dev.stoker.cli.look;

import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.output.Errors;
import dev.stoker.cli.output.KeyText;
import dev.stoker.cli.output.StandardOutput;
import dev.stoker.cli.output.Terminal;
import dev.stoker.cli.samples.ContentBytes;
import dev.stoker.cli.samples.KeyedSamples;
import dev.stoker.cli.samples.ReadSample;
import dev.stoker.cli.samples.WantedKeys;
import dev.stoker.schemas.text.Units;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code stoker cat}: prints the contents of samples, one after the other. */
@Command(
        name = "cat",
        header = {
            "Examples:",
            "  stoker cat ./data/captions de/1.txt de/2.txt",
            "  stoker cat ./data/photos cats/1.jpg > 1.jpg",
            "  stoker ls ./data/texts -r | stoker cat ./data/texts --keys-from - | wc"
        },
        description = {
            "Prints the contents of samples to standard output. The contents follow each other, without anything"
                    + " between them. A key that the version does not have is reported, the others are printed, and"
                    + " the exit code is 1.",
            "Does not print binary data to a terminal, unless --force is given."
        },
        sortOptions = false)
public final class CatVerb implements Callable<Integer> {

    /** Samples that are in memory at a time. */
    private static final int TOGETHER = 16;

    @Spec
    private CommandSpec spec;

    @Mixin
    private WantedKeys wanted = new WantedKeys();

    @Option(
            names = "--field",
            paramLabel = "NAME",
            description = "Field to print: payload, binary or text. Default: the only payload field, or the only field"
                    + " of bytes or text.")
    private @Nullable String field;

    @Option(names = "--force", description = "Print binary data to a terminal.")
    private boolean force;

    private final OutputStream raw;
    private final BooleanSupplier isTerminal;

    public CatVerb() {
        this(new StandardOutput(new FileOutputStream(FileDescriptor.out)), Terminal::isOutput);
    }

    /**
     * @param raw receives the contents
     * @param isTerminal whether this is a terminal
     */
    public CatVerb(OutputStream raw, BooleanSupplier isTerminal) {
        this.raw = raw;
        this.isTerminal = isTerminal;
    }

    @Override
    public Integer call() throws IOException {
        List<String> keys = wanted.all();
        PrintWriter err = spec.commandLine().getErr();
        boolean isTextOnly = !force && isTerminal.getAsBoolean();
        int failed = 0;
        try (KeyedSamples samples = wanted.open()) {
            int content = ContentBytes.choose(samples.fields(), field);
            for (int first = 0; first < keys.size(); first += TOGETHER) {
                List<String> some = keys.subList(first, Math.min(keys.size(), first + TOGETHER));
                List<Optional<ReadSample>> read = samples.get(some);
                for (int i = 0; i < some.size(); i++) {
                    if (read.get(i).isEmpty()) {
                        failed++;
                        err.println("not found: " + KeyText.line(some.get(i)) + KeyText.endNote(some.get(i)));
                        continue;
                    }
                    print(ContentBytes.of(read.get(i).get(), content), some.get(i), isTextOnly);
                }
            }
            raw.flush();
        }
        return failed == 0 ? 0 : Errors.FAILED;
    }

    private void print(ByteBuffer bytes, String key, boolean isTextOnly) throws IOException {
        if (isTextOnly && !isText(bytes)) {
            raw.flush();
            throw new CommandException("the sample " + KeyText.line(key) + " has " + Units.bytes(bytes.remaining())
                    + " of binary data, which can make a terminal unusable; write it to a file with > FILE, or use"
                    + " --force");
        }
        ContentBytes.write(bytes, raw);
    }

    /** Returns whether bytes are UTF-8 without control characters except white space. */
    static boolean isText(ByteBuffer bytes) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(bytes.duplicate())
                    .chars()
                    .noneMatch(c -> Character.isISOControl(c) && !Character.isWhitespace(c));
        } catch (CharacterCodingException e) {
            return false;
        }
    }
}
