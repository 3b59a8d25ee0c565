package dev.stoker.storage.hadoop;

import dev.stoker.storage.ServerThreads;
import java.io.Closeable;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.hdfs.DFSTestUtil;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.util.ShutdownHookManager;

/** A name node and two data nodes in this process, on the loopback interface, with two copies of every block. */
public final class HdfsCluster implements Closeable {

    private static HdfsCluster shared;

    private final MiniDFSCluster cluster;

    private HdfsCluster(MiniDFSCluster cluster) {
        this.cluster = cluster;
    }

    /** The one of this JVM, started with the first call. */
    public static synchronized HdfsCluster shared() throws IOException {
        if (shared == null) {
            try {
                shared = ServerThreads.starting(HdfsCluster::started);
            } catch (IOException | RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new IOException(e);
            }
        }
        return shared;
    }

    /** Starts one and writes a file, as the nodes start some of their threads only then. */
    private static HdfsCluster started() throws IOException {
        HdfsCluster cluster = start();
        DFSTestUtil.writeFile(cluster.cluster.getFileSystem(), new org.apache.hadoop.fs.Path("/first"), "first");
        return cluster;
    }

    /** Starts another one. */
    public static HdfsCluster start() throws IOException {
        // Not below target: data nodes do not start where there is a space in their path.
        Path directory = Files.createTempDirectory(Path.of("/tmp"), "stoker-hdfs");
        // After the data nodes' own last words, which are files.
        ShutdownHookManager.get().addShutdownHook(() -> FileUtil.fullyDelete(directory.toFile()), 0);
        Configuration conf = new Configuration();
        conf.setInt("dfs.replication", 2);
        conf.setInt("dfs.datanode.handler.count", 4);
        conf.setInt("dfs.namenode.handler.count", 4);
        conf.setInt("dfs.heartbeat.interval", 1);
        conf.setInt("dfs.namenode.fs-limits.min-block-size", 1 << 10);
        conf.setBoolean("dfs.permissions.enabled", false);
        MiniDFSCluster cluster = new MiniDFSCluster.Builder(conf, directory.toFile())
                .numDataNodes(2)
                .build();
        cluster.waitActive();
        return new HdfsCluster(cluster);
    }

    /** Where its root is, without a slash at the end. */
    public URI uri() {
        return URI.create("hdfs://127.0.0.1:" + cluster.getNameNodePort());
    }

    /** Ends a data node, 0 or 1, as if its machine had lost power. */
    public MiniDFSCluster.DataNodeProperties killDataNode(int index) {
        return cluster.stopDataNode(index);
    }

    /** Brings a data node back, and waits until it serves. */
    public void restartDataNode(MiniDFSCluster.DataNodeProperties node) throws IOException {
        cluster.restartDataNode(node, true);
        cluster.waitActive();
    }

    /** Ends the name node. */
    public void killNameNode() {
        cluster.shutdownNameNode(0);
    }

    /** Brings it back, and waits until it serves. */
    public void restartNameNode() throws IOException {
        cluster.restartNameNode(0, true);
    }

    @Override
    public void close() {
        cluster.shutdown(true);
    }
}
