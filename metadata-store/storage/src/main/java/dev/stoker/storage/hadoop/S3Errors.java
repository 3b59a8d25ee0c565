package dev.stoker.storage.hadoop;

import dev.stoker.storage.retry.StoreFailureKind;
import java.io.IOException;
import java.net.UnknownHostException;
import java.nio.file.AccessDeniedException;
import java.util.Set;
import org.apache.hadoop.fs.s3a.AWSBadRequestException;
import org.apache.hadoop.fs.s3a.AWSRedirectException;
import org.apache.hadoop.fs.s3a.AWSUnsupportedFeatureException;
import org.apache.hadoop.fs.s3a.RemoteFileChangedException;
import org.apache.hadoop.fs.s3a.UnknownStoreException;
import org.apache.hadoop.fs.s3a.auth.NoAuthWithAWSException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.exception.AwsServiceException;

/** Classifies exceptions of S3A. */
final class S3Errors {

    private static final Set<String> EXPIRED = Set.of("ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired");
    private static final Set<String> DENIED = Set.of(
            "AccessDenied",
            "InvalidAccessKeyId",
            "SignatureDoesNotMatch",
            "InvalidToken",
            "AccountProblem",
            "AllAccessDisabled");
    private static final Set<String> INTERRUPTED_UPLOAD = Set.of("RequestTimeout", "IncompleteBody");
    private static final int BAD_REQUEST = 400;
    private static final int CONFLICT = 409;
    private static final int PRECONDITION_FAILED = 412;

    private S3Errors() {}

    static StoreFailureKind kind(IOException e) {
        AwsServiceException service = service(e);
        if (service != null) {
            String code = code(service);
            if (EXPIRED.contains(code) || isBareRefusal(service)) {
                return StoreFailureKind.EXPIRED;
            }
            if (DENIED.contains(code) || service.statusCode() == 401 || service.statusCode() == 403) {
                return StoreFailureKind.DENIED;
            }
        }
        if (e instanceof UnknownStoreException
                || e instanceof AWSRedirectException
                || e instanceof AWSUnsupportedFeatureException
                || e instanceof RemoteFileChangedException
                || e instanceof UnknownHostException
                || (e instanceof AWSBadRequestException && (service == null || service.statusCode() != CONFLICT))) {
            return StoreFailureKind.REFUSED;
        }
        if (e instanceof AccessDeniedException) {
            // The absence of any credentials is reported as one of these, too.
            return StoreFailureKind.DENIED;
        }
        return StoreFailureKind.TRANSIENT;
    }

    static boolean isUnsupported(IOException e) {
        return e instanceof AWSUnsupportedFeatureException;
    }

    /** The reply to a HEAD has no body, and so no code. S3 refuses expired credentials with this status. */
    private static boolean isBareRefusal(AwsServiceException e) {
        return e.statusCode() == BAD_REQUEST && code(e).isEmpty();
    }

    /** Returns whether the server has not received the whole request. */
    static boolean isInterruptedUpload(AwsServiceException e) {
        return INTERRUPTED_UPLOAD.contains(code(e));
    }

    /** Returns whether a conditional write lost against another write, or against its own first attempt. */
    static boolean isConflict(IOException e) {
        AwsServiceException service = service(e);
        return e instanceof RemoteFileChangedException
                || (service != null
                        && (service.statusCode() == CONFLICT || service.statusCode() == PRECONDITION_FAILED));
    }

    /** Returns the server's message without location and operation; null if it did not answer. */
    static @Nullable String reason(Throwable e) {
        AwsServiceException service = service(e);
        if (service == null) {
            return hasNoCredentials(e)
                    ? "no credentials were found in the environment, in the AWS credentials file or in Hadoop's"
                            + " configuration"
                    : null;
        }
        String message = service.awsErrorDetails() == null
                ? null
                : service.awsErrorDetails().errorMessage();
        String code = code(service);
        if (isBareRefusal(service)) {
            return "HTTP 400 without a reason, as for expired credentials or a wrong region";
        }
        return "HTTP " + service.statusCode() + (code.isEmpty() ? "" : " " + code)
                + (message == null || message.isBlank() || message.equals(code) ? "" : " (" + message.strip() + ")");
    }

    private static boolean hasNoCredentials(Throwable e) {
        for (Throwable t = e; t != null; t = t.getCause()) {
            if (t instanceof NoAuthWithAWSException) {
                return true;
            }
        }
        return false;
    }

    private static String code(AwsServiceException service) {
        String code = service.awsErrorDetails() == null
                ? null
                : service.awsErrorDetails().errorCode();
        return code == null ? "" : code;
    }

    private static @Nullable AwsServiceException service(Throwable e) {
        for (Throwable t = e; t != null; t = t.getCause()) {
            if (t instanceof AwsServiceException service) {
                return service;
            }
        }
        return null;
    }
}
