package dev.stoker.mount.fuse;

import dev.stoker.mount.TestMount;
import dev.stoker.mount.tree.MountTree;
import dev.stoker.mount.tree.MountedDataset;
import dev.stoker.mount.tree.TreeOptions;
import dev.stoker.storage.LocalObjectStore;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;

/** A process that serves a mount, to be killed. */
final class MountingProcess {

    private MountingProcess() {}

    /** @param args the dataset, the mount point, and the directory of the records */
    public static void main(String[] args) throws Exception {
        UUID id = UUID.randomUUID();
        Path point = Path.of(args[1]);
        new MountRecords(Path.of(args[2])).add(MountRecords.Entry.ofThisProcess(id, point, List.of(args[0])));
        MountedDataset dataset =
                new MountedDataset("", new LocalObjectStore(Path.of(args[0])), OptionalLong.empty(), null);
        MountTree tree = MountTree.open(id, List.of(dataset), TreeOptions.defaults());
        FuseMount mount =
                FuseMount.start(tree, point, new FuseSettings("stoker", false, false), new Problems(line -> {}));
        System.out.println("ready " + TestMount.FIRST);
        mount.await();
    }
}
