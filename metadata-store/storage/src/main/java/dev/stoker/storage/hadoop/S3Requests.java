package dev.stoker.storage.hadoop;

import dev.stoker.storage.retry.CallScope;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.s3a.audit.AuditOperationRejectedException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.Abortable;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * Inspects every request and reply of an S3 client. Counts requests in the {@link CallScope} of their thread, and sends
 * none after its end. Also compares each reply with the requested range, which S3A does not do. If a server or a proxy
 * sends other bytes, or fewer, this check detects it before the bytes are used. Makes S3A retry uploads that were
 * interrupted.
 *
 * <p>Thread-safe. Hadoop instantiates it by name.
 */
public final class S3Requests implements ExecutionInterceptor {

    private static final Pattern RANGE = Pattern.compile("bytes=(\\d+)-(\\d+)");
    private static final Pattern CONTENT_RANGE = Pattern.compile("bytes (\\d+)-(\\d+)/(\\d+|\\*)");

    private static final int REQUEST_TIMEOUT = 408;

    @Override
    public void beforeTransmission(Context.BeforeTransmission context, ExecutionAttributes attributes) {
        CallScope scope = CallScope.current();
        if (scope == null) {
            return;
        }
        if (scope.isOver()) {
            scope.refuseRequests();
            // The only kind of exception that S3A neither retries nor attributes to the store.
            throw new AuditOperationRejectedException("the time for retries is over");
        }
        scope.countRequest();
    }

    @Override
    public void afterTransmission(Context.AfterTransmission context, ExecutionAttributes attributes) {
        if (context.httpRequest().method() != SdkHttpMethod.GET
                || !context.httpResponse().isSuccessful()) {
            return;
        }
        Optional<String> asked = context.httpRequest().firstMatchingHeader("Range");
        if (asked.isPresent()) {
            String wrong = compare(asked.get(), context.httpResponse());
            if (wrong != null) {
                context.responseBody().ifPresent(S3Requests::abort);
                throw SdkClientException.create("Asked for " + asked.get() + ", but " + wrong);
            }
        }
    }

    private static void abort(Object body) {
        if (body instanceof Abortable abortable) {
            abortable.abort();
        }
    }

    /** Returns the problem of the reply, or null. */
    static @Nullable String compare(String asked, SdkHttpResponse reply) {
        Matcher range = RANGE.matcher(asked);
        if (!range.matches()) {
            return null;
        }
        long first = Long.parseLong(range.group(1));
        long last = Long.parseLong(range.group(2));
        long length =
                reply.firstMatchingHeader("Content-Length").map(Long::parseLong).orElse(-1L);
        if (reply.statusCode() != 206) {
            // The answer to a range of the whole object may be the whole object.
            return first == 0 && length >= 0 && length <= last + 1
                    ? objectLength(length)
                    : "the reply is the whole object (" + length + " bytes)";
        }
        String sent = reply.firstMatchingHeader("Content-Range").orElse("none");
        Matcher found = CONTENT_RANGE.matcher(sent);
        if (!found.matches()) {
            return "the reply has the range '" + sent + "'";
        }
        long sentLast = Long.parseLong(found.group(2));
        long total = found.group(3).equals("*") ? -1 : Long.parseLong(found.group(3));
        boolean upToTheEnd = total >= 0 && sentLast == total - 1 && sentLast < last;
        if (Long.parseLong(found.group(1)) != first || (sentLast != last && !upToTheEnd)) {
            return "the reply has " + sent;
        }
        if (length >= 0 && length != sentLast - first + 1) {
            return "the reply has " + length + " bytes for " + sent;
        }
        return objectLength(total);
    }

    private static @Nullable String objectLength(long length) {
        CallScope scope = CallScope.current();
        if (scope != null) {
            scope.objectLength(length);
        }
        return null;
    }

    /** S3 reports an upload that was interrupted as a bad request (400), which S3A does not retry. */
    @Override
    public Throwable modifyException(Context.FailedExecution context, ExecutionAttributes attributes) {
        return context.exception() instanceof S3Exception e && S3Errors.isInterruptedUpload(e)
                ? e.toBuilder().statusCode(REQUEST_TIMEOUT).build()
                : context.exception();
    }

    @Override
    public void onExecutionFailure(Context.FailedExecution context, ExecutionAttributes attributes) {
        CallScope scope = CallScope.current();
        if (scope != null && !scope.isRefusingRequests() && context.exception() instanceof Exception failure) {
            scope.failed(failure);
        }
    }
}
