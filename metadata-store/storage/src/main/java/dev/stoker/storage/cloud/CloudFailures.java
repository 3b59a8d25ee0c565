package dev.stoker.storage.cloud;

import dev.stoker.schemas.errors.StokerException;
import dev.stoker.storage.retry.Failures;
import dev.stoker.storage.retry.StoreFailureKind;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;

/** Classifies the exceptions of a {@link Bucket}. */
final class CloudFailures extends Failures {

    private static final int REQUEST_TIMEOUT = 408;
    private static final int TOO_MANY_REQUESTS = 429;
    private static final int SERVER_ERROR = 500;

    @Override
    public StoreFailureKind kind(IOException e) {
        if (e instanceof BucketException bucket) {
            return bucket.kind();
        }
        if (e instanceof FileNotFoundException) {
            return StoreFailureKind.ABSENT;
        }
        if (e instanceof StokerException
                || (e instanceof InterruptedIOException && !(e instanceof SocketTimeoutException))
                || e instanceof UnknownHostException
                || e instanceof NoRouteToHostException) {
            return StoreFailureKind.REFUSED;
        }
        return StoreFailureKind.TRANSIENT;
    }

    @Override
    public String reason(Throwable e) {
        return e instanceof BucketException ? String.valueOf(e.getMessage()) : super.reason(e);
    }

    @Override
    protected @Nullable Throwable cause(IOException e) {
        return e instanceof BucketException ? e.getCause() : super.cause(e);
    }

    /** Returns the kind of an answer with an error status that has no special meaning for its request. */
    static StoreFailureKind ofStatus(int status) {
        return switch (status) {
            case 401, 403 -> StoreFailureKind.DENIED;
            case REQUEST_TIMEOUT, TOO_MANY_REQUESTS -> StoreFailureKind.TRANSIENT;
            default -> status >= SERVER_ERROR ? StoreFailureKind.TRANSIENT : StoreFailureKind.REFUSED;
        };
    }
}
