package dev.stoker.server.tiers;

import dev.stoker.server.tiers.files.CacheAccess;
import dev.stoker.server.tiers.files.CacheFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.Callable;

/** Local files that fail as the test requests. */
public final class FaultyFiles implements CacheFiles {
    private final CacheFiles real = new CacheFiles.Nio(CacheAccess.USER);
    /**
     * What goes wrong when a file is begun, with its second part, when it is to appear, when it is read; nothing if
     * empty.
     */
    public String write = "";

    String secondPart = "";
    String publish = "";
    public String read = "";
    public Callable<Void> beforeWrite = () -> null;

    private static void fail(String why) throws IOException {
        if (!why.isEmpty()) {
            throw new IOException(why);
        }
    }

    @Override
    public Unfinished create(Path file) throws IOException {
        fail(write);
        try {
            beforeWrite.call();
        } catch (Exception e) {
            throw new IOException(e);
        }
        Unfinished made = real.create(file);
        return new Unfinished() {
            @Override
            public void write(long offset, ByteBuffer bytes) throws IOException {
                if (offset > 0 && !secondPart.isEmpty()) {
                    // Write half of it.
                    made.write(offset, bytes.slice(bytes.position(), bytes.remaining() / 2));
                    fail(secondPart);
                }
                made.write(offset, bytes);
            }

            @Override
            public void read(ByteBuffer target) throws IOException {
                made.read(target);
            }

            @Override
            public void publish() throws IOException {
                fail(publish);
                made.publish();
            }

            @Override
            public void close() throws IOException {
                made.close();
            }
        };
    }

    @Override
    public void read(Path file, long offset, ByteBuffer target) throws IOException {
        fail(read);
        real.read(file, offset, target);
    }

    @Override
    public long length(Path file) throws IOException {
        fail(read);
        return real.length(file);
    }

    @Override
    public void delete(Path file) throws IOException {
        real.delete(file);
    }
}
