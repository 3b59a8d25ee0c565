package dev.stoker.storage.cloud;

import com.azure.core.exception.ClientAuthenticationException;
import com.azure.identity.CredentialUnavailableException;
import com.azure.storage.blob.models.BlobErrorCode;
import com.azure.storage.blob.models.BlobStorageException;
import dev.stoker.storage.retry.StoreFailureKind;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.FileSystemException;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.stream.XMLStreamException;
import org.jspecify.annotations.Nullable;

/** Translates errors of Microsoft's client. */
final class AzureErrors {

    private static final int NOT_FOUND = 404;
    private static final Pattern MESSAGE = Pattern.compile("<Message>([^<\\r\\n]*)");

    /** The next step by the code of a refusal. */
    private static final Map<String, String> STEPS = Map.of(
            "AuthorizationPermissionMismatch",
            "; the identity needs the role \"Storage Blob Data Contributor\", or \"Storage Blob Data Reader\" to read",
            "AuthorizationFailure",
            "; the firewall of the account may not admit this machine",
            "PublicAccessNotPermitted",
            "; the account has no public containers: give credentials");

    private final AzureAddress address;
    private final String access;

    /** @param access how the client proves its rights, for messages */
    AzureErrors(AzureAddress address, String access) {
        this.address = address;
        this.access = access;
    }

    /** Returns the exception of the failed call. Programming errors are thrown. */
    IOException translate(RuntimeException e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof BlobStorageException answer) {
                return answered(answer);
            }
            if (cause instanceof CredentialUnavailableException) {
                return new BucketException(
                        StoreFailureKind.DENIED,
                        "no credentials of Azure were found: set AZURE_STORAGE_ACCOUNT_KEY, AZURE_STORAGE_SAS_TOKEN or"
                                + " the variables of a service principal, or run `az login`",
                        e);
            }
            if (cause instanceof InterruptedException) {
                Thread.currentThread().interrupt();
                InterruptedIOException interrupted = new InterruptedIOException("Interrupted");
                interrupted.initCause(e);
                return interrupted;
            }
            if (cause instanceof FileSystemException file) {
                return new BucketException(
                        StoreFailureKind.DENIED,
                        "cannot read " + file.getFile() + " for the identity of this process",
                        e);
            }
            if (cause instanceof IOException io) {
                return io;
            }
            if (cause instanceof XMLStreamException) {
                return new BucketException(StoreFailureKind.TRANSIENT, "the reply is not XML", e);
            }
        }
        // After the causes, because a server of logins may only be out of reach.
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof ClientAuthenticationException refused) {
                return new BucketException(
                        StoreFailureKind.DENIED,
                        "Azure did not accept the identity of this process: " + reason(refused),
                        e);
            }
        }
        throw e;
    }

    private IOException answered(BlobStorageException e) {
        String code = code(e);
        int status = e.getStatusCode();
        if (code.equals(BlobErrorCode.CONTAINER_NOT_FOUND.toString())) {
            return noContainer(e);
        }
        if (status == NOT_FOUND) {
            FileNotFoundException absent = new FileNotFoundException("HTTP 404 " + code);
            absent.initCause(e);
            return absent;
        }
        return refused(status, code, message(e), e);
    }

    BucketException noContainer(Exception e) {
        return new BucketException(
                StoreFailureKind.REFUSED,
                "the account " + address.account() + " has no container " + address.container()
                        + "; check its name, or create it with `az storage container create --account-name "
                        + address.account() + " --name " + address.container() + "`",
                e);
    }

    /** Returns the exception for an answer with an error status that has no special meaning for its request. */
    BucketException refused(int status, String code, String message, Exception e) {
        StoreFailureKind kind =
                code.equals("PublicAccessNotPermitted") ? StoreFailureKind.DENIED : CloudFailures.ofStatus(status);
        String details = (code + (code.isEmpty() || message.isEmpty() ? "" : ": ") + message).strip();
        // The emulator has another code than Azure, and the same message.
        String step = code.equals("AuthenticationFailed") || message.startsWith("Server failed to authenticate")
                ? "; Azure did not accept " + access
                : STEPS.getOrDefault(code, "");
        return new BucketException(kind, "HTTP " + status + (details.isEmpty() ? "" : " (" + details + ")") + step, e);
    }

    static String code(BlobStorageException e) {
        return e.getErrorCode() == null ? "" : e.getErrorCode().toString();
    }

    private static String message(BlobStorageException e) {
        return message(e.getServiceMessage());
    }

    /** Returns the message in the body of an error. */
    static String message(@Nullable String xml) {
        Matcher found = MESSAGE.matcher(xml == null ? "" : xml);
        return found.find() ? found.group(1).strip() : "";
    }

    private static String reason(Throwable e) {
        Throwable deepest = e;
        while (deepest.getCause() != null) {
            deepest = deepest.getCause();
        }
        String message = deepest.getMessage();
        return message == null
                ? deepest.getClass().getSimpleName()
                : message.lines().findFirst().orElse("").strip();
    }
}
