package dev.stoker.hadoop;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.DelegateToFileSystem;

/**
 * The same file system for programs that use {@link org.apache.hadoop.fs.FileContext}. They find it if {@code
 * fs.AbstractFileSystem.stoker.impl} names this class.
 */
public final class StokerFs extends DelegateToFileSystem {

    /** Called by Hadoop. */
    public StokerFs(URI uri, Configuration conf) throws IOException, URISyntaxException {
        super(uri, new StokerFileSystem(), conf, FileSystemSettings.SCHEME, false);
    }
}
