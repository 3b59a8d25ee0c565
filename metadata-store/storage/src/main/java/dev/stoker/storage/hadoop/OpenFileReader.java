package dev.stoker.storage.hadoop;

import dev.stoker.storage.PartSink;
import dev.stoker.storage.retry.CallScope;
import dev.stoker.storage.retry.Parts;
import dev.stoker.storage.retry.SlowReadGuard;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;

/**
 * Reads from a file system with a server for names, such as HDFS. Keeps a file open after a read: an open file knows
 * the locations of its blocks, so another read sends no request to the name node. Positioned reads of one open file may
 * run in parallel.
 */
final class OpenFileReader implements ObjectReader {

    /** An open file uses a few kilobytes and no connection. */
    private static final int MOST_OPEN = 4096;

    private static final class Open {
        final FSDataInputStream in;
        int users;
        boolean closing;

        Open(FSDataInputStream in) {
            this.in = in;
        }
    }

    private final FileSystem fileSystem;
    private final ObjectPaths paths;
    private final SlowReadGuard guard;
    private final Map<String, Open> files = new LinkedHashMap<>(16, 0.75f, true); // guarded by the map

    OpenFileReader(HadoopObjectStore.Connection connection) {
        this.fileSystem = connection.fileSystem();
        this.paths = connection.paths();
        this.guard = StoreConfiguration.slowReads(connection.configuration());
    }

    @Override
    public void read(String name, long offset, int length, PartSink sink) throws IOException {
        Open file = acquire(name);
        boolean good = false;
        try {
            read(file.in, offset, length, sink);
            good = true;
        } finally {
            if (!good) {
                forget(name);
            }
            release(file);
        }
    }

    private void read(FSDataInputStream in, long offset, int length, PartSink sink) throws IOException {
        Parts parts = new Parts(offset, length, sink);
        SlowReadGuard.Watch watch = guard.new Watch();
        for (int read; (read = in.read(parts.position(), parts.array(), parts.filled(), parts.room())) > 0; ) {
            watch.got(read);
            parts.add(read);
        }
        parts.end();
    }

    @Override
    public byte[] readAll(String name, long limitBytes) throws IOException {
        long length = fileSystem.getFileStatus(paths.path(name)).getLen();
        CallScope.current().objectLength(length);
        if (length > limitBytes) {
            return new byte[0];
        }
        ByteBuffer content = ByteBuffer.allocate((int) length);
        if (length > 0) {
            // Read only once, so it is not kept open.
            try (FSDataInputStream in = fileSystem.open(paths.path(name))) {
                read(in, 0, (int) length, (offset, part) -> content.put(part));
            }
        }
        byte[] bytes = new byte[content.position()];
        content.flip().get(bytes);
        return bytes;
    }

    private Open acquire(String name) throws IOException {
        synchronized (files) {
            Open file = files.get(name);
            if (file != null) {
                file.users++;
                return file;
            }
        }
        Open opened = new Open(fileSystem.open(paths.path(name)));
        opened.users = 1;
        List<Open> idle = new ArrayList<>();
        synchronized (files) {
            Open other = files.putIfAbsent(name, opened);
            if (other != null) {
                other.users++;
                idle.add(opened);
                opened = other;
            }
            Iterator<Open> oldest = files.values().iterator();
            while (files.size() > MOST_OPEN && oldest.hasNext()) {
                Open candidate = oldest.next();
                if (candidate.users == 0) {
                    oldest.remove();
                    idle.add(candidate);
                }
            }
        }
        for (Open file : idle) {
            file.in.close();
        }
        return opened;
    }

    private void release(Open file) throws IOException {
        boolean last;
        synchronized (files) {
            last = --file.users == 0 && file.closing;
        }
        if (last) {
            file.in.close();
        }
    }

    @Override
    public void forget(String name) {
        Open file;
        boolean unused;
        synchronized (files) {
            file = files.remove(name);
            if (file == null) {
                return;
            }
            file.closing = true;
            unused = file.users == 0;
        }
        if (unused) {
            try {
                file.in.close();
            } catch (IOException e) {
                // The file was only read, so nothing is lost.
            }
        }
    }

    @Override
    public void close() {
        List<String> names;
        synchronized (files) {
            names = List.copyOf(files.keySet());
        }
        names.forEach(this::forget);
    }
}
