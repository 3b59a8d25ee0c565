package dev.stoker.storage.hadoop;

import dev.stoker.schemas.errors.StokerException;
import dev.stoker.storage.retry.Failures;
import dev.stoker.storage.retry.StoreFailureKind;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.PathIOException;
import org.apache.hadoop.hdfs.protocol.QuotaExceededException;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.security.AccessControlException;

/** Classifies exceptions of Hadoop. */
final class HadoopErrors extends Failures {

    static final HadoopErrors INSTANCE = new HadoopErrors();

    private HadoopErrors() {}

    @Override
    protected IOException unwrap(IOException e) {
        return e instanceof RemoteException remote ? remote.unwrapRemoteException() : e;
    }

    @Override
    public StoreFailureKind kind(IOException wrapped) {
        IOException e = unwrap(wrapped);
        if (e instanceof FileNotFoundException || e instanceof NoSuchFileException) {
            return StoreFailureKind.ABSENT;
        }
        if (isNoSpace(e)) {
            return StoreFailureKind.NO_SPACE;
        }
        if (String.valueOf(e.getMessage()).contains("could only be written to 0 of the")) {
            return StoreFailureKind.NO_NODES;
        }
        if (isS3(e)) {
            return S3Errors.kind(e);
        }
        if (e instanceof AccessControlException || e instanceof AccessDeniedException) {
            return StoreFailureKind.DENIED;
        }
        if (e instanceof StokerException
                || (e instanceof InterruptedIOException && !(e instanceof SocketTimeoutException))
                || e instanceof UnknownHostException
                || e instanceof NoRouteToHostException
                || e instanceof PathIOException
                || e instanceof FileAlreadyExistsException
                || e instanceof ParentNotDirectoryException) {
            return StoreFailureKind.REFUSED;
        }
        return StoreFailureKind.TRANSIENT;
    }

    private static boolean isS3(Throwable e) {
        for (Throwable t = e; t != null; t = t.getCause()) {
            String type = t.getClass().getName();
            if (type.startsWith("software.amazon.") || type.startsWith("org.apache.hadoop.fs.s3a.")) {
                return true;
            }
        }
        return false;
    }

    private static boolean isNoSpace(IOException e) {
        if (e instanceof QuotaExceededException) {
            return true;
        }
        String message = String.valueOf(e.getMessage());
        return message.contains("No space left")
                || message.contains("QuotaExceeded")
                || message.contains("StorageFull");
    }

    @Override
    protected boolean isUnsupported(IOException e) {
        return isS3(e) && S3Errors.isUnsupported(e);
    }

    @Override
    public String reason(Throwable e) {
        String s3 = isS3(e) ? S3Errors.reason(e) : null;
        return s3 != null ? s3 : super.reason(e);
    }
}
