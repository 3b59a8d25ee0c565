package dev.stoker.mount.fuse;

import dev.stoker.mount.tree.MountTree;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * What the kernel is told about a mount.
 *
 * @param source what is mounted, for {@code df} and {@code findmnt}
 * @param isImmutable whether nothing in it ever changes, so that the kernel may remember everything
 * @param othersToo whether all users of the machine may read it, instead of the user of the process
 */
public record FuseSettings(String source, boolean isImmutable, boolean othersToo) {

    /** The most that libfuse 2 reads at a time. */
    private static final int READ_BYTES = 128 << 10;

    private static final Duration FOR_EVER = Duration.ofDays(1);

    /** Returns the arguments for libfuse. */
    List<String> arguments() {
        long seconds = (isImmutable ? FOR_EVER : MountTree.REMEMBERED).toSeconds();
        List<String> options = new ArrayList<>(List.of(
                "ro",
                "fsname=" + source.replace("\\", "\\\\").replace(",", "\\,"),
                "subtype=stoker",
                "big_writes",
                "max_read=" + READ_BYTES,
                "max_readahead=" + READ_BYTES,
                "attr_timeout=" + seconds,
                "entry_timeout=" + seconds,
                "negative_timeout=" + seconds,
                "default_permissions"));
        if (othersToo) {
            options.add("allow_other");
        }
        return List.of("-o", String.join(",", options));
    }
}
