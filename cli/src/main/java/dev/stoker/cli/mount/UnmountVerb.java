package dev.stoker.cli.mount;

import dev.stoker.cli.output.CommandException;
import dev.stoker.mount.fuse.MountRecords;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker unmount}: ends a mount. */
@Command(
        name = "unmount",
        header = {"Example:", "  stoker unmount ./mounted"},
        description = {
            "Ends a mount of stoker mount. Cleans up after one whose process was killed. Programs that have open"
                    + " files there keep them for a moment, then they get an error.",
            "Prints nothing on success."
        },
        sortOptions = false)
public final class UnmountVerb implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "DIRECTORY", description = "The mount point.")
    private Path directory;

    @Override
    public Integer call() throws IOException {
        PrintWriter err = spec.commandLine().getErr();
        boolean wasMounted =
                new MountRecords(MountVerb.records()).unmount(directory, line -> err.println("stoker: " + line));
        if (!wasMounted) {
            throw new CommandException(directory + " is not mounted");
        }
        return 0;
    }
}
