package dev.stoker.hadoop;

import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.EtagSource;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.jspecify.annotations.Nullable;

/** The status of a sample or of a directory of samples. The etag of a file names its contents. */
final class SampleStatus extends FileStatus implements EtagSource {

    private static final long serialVersionUID = 1L;

    private static final FsPermission FILE = new FsPermission((short) 0444);
    private static final FsPermission DIRECTORY = new FsPermission((short) 0555);

    private final String etag;

    private SampleStatus(
            long length,
            boolean isDirectory,
            long timeMs,
            FsPermission permission,
            String owner,
            Path path,
            String etag) {
        // A file is one block, so that programs do not divide it between tasks, which would all read it whole.
        super(
                length,
                isDirectory,
                1,
                isDirectory ? 0 : Math.max(1, length),
                timeMs,
                timeMs,
                permission,
                owner,
                owner,
                path);
        this.etag = etag;
    }

    static SampleStatus ofFile(ContentDigest contents, long timeMs, String owner, Path path) {
        return new SampleStatus(contents.length(), false, timeMs, FILE, owner, path, contents.etag());
    }

    static SampleStatus ofDirectory(long timeMs, String owner, Path path) {
        return new SampleStatus(0, true, timeMs, DIRECTORY, owner, path, "");
    }

    @Override
    public String getEtag() {
        return etag;
    }

    /** Returns the status with the places of its blocks. */
    LocatedFileStatus located(BlockLocation @Nullable [] blocks) {
        return new Located(this, blocks);
    }

    private static final class Located extends LocatedFileStatus implements EtagSource {

        private static final long serialVersionUID = 1L;

        private final String etag;

        Located(SampleStatus status, BlockLocation @Nullable [] blocks) {
            super(status, blocks);
            this.etag = status.etag;
        }

        @Override
        public String getEtag() {
            return etag;
        }

        @Override
        public boolean equals(Object other) {
            return super.equals(other);
        }

        @Override
        public int hashCode() {
            return super.hashCode();
        }
    }

    @Override
    public boolean equals(Object other) {
        return super.equals(other);
    }

    @Override
    public int hashCode() {
        return super.hashCode();
    }
}
