package dev.stoker.hadoop.contract;

import dev.stoker.hadoop.WritableFileSystem;
import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.contract.AbstractFSContract;

/** What {@code stoker://} promises in the terms of Hadoop's contract tests. Each test has its own dataset. */
final class StokerContract extends AbstractFSContract {

    StokerContract(Configuration conf) {
        super(conf);
        addConfResource("contract/stoker.xml");
    }

    @Override
    public FileSystem getTestFileSystem() throws IOException {
        Configuration conf = new Configuration(getConf());
        conf.set("fs.stoker.dataset.contract", "/memory");
        FileSystem fileSystem = new WritableFileSystem();
        fileSystem.initialize(URI.create("stoker://contract/"), conf);
        return fileSystem;
    }

    @Override
    public String getScheme() {
        return "stoker";
    }

    @Override
    public Path getTestPath() {
        return new Path("/test");
    }
}
