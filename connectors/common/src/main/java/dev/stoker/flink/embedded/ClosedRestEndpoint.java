package dev.stoker.flink.embedded;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.blob.TransientBlobService;
import org.apache.flink.runtime.dispatcher.DispatcherGateway;
import org.apache.flink.runtime.leaderelection.LeaderElection;
import org.apache.flink.runtime.resourcemanager.ResourceManagerGateway;
import org.apache.flink.runtime.rest.RestEndpointFactory;
import org.apache.flink.runtime.rest.handler.RestHandlerConfiguration;
import org.apache.flink.runtime.rest.handler.RestHandlerSpecification;
import org.apache.flink.runtime.rest.handler.legacy.metrics.MetricFetcher;
import org.apache.flink.runtime.rpc.FatalErrorHandler;
import org.apache.flink.runtime.webmonitor.WebMonitorEndpoint;
import org.apache.flink.runtime.webmonitor.retriever.LeaderGatewayRetriever;
import org.apache.flink.shaded.netty4.io.netty.channel.ChannelInboundHandler;
import org.apache.flink.util.ConfigurationException;
import org.jspecify.annotations.Nullable;

/** A REST endpoint that serves no requests and closes its socket before its start returns. */
@SuppressWarnings("try") // Flink's close() may be interrupted.
final class ClosedRestEndpoint extends WebMonitorEndpoint<DispatcherGateway> {

    /** Guarded by this. Kept because Flink's own future would never complete for a socket that is already closed. */
    private @Nullable CompletableFuture<Void> closing;

    ClosedRestEndpoint(
            Configuration configuration,
            LeaderGatewayRetriever<DispatcherGateway> dispatcher,
            LeaderGatewayRetriever<ResourceManagerGateway> resourceManager,
            TransientBlobService blobs,
            ScheduledExecutorService executor,
            MetricFetcher metrics,
            LeaderElection election,
            FatalErrorHandler errors)
            throws IOException, ConfigurationException {
        this(
                configuration,
                RestHandlerConfiguration.fromConfiguration(configuration),
                dispatcher,
                resourceManager,
                blobs,
                executor,
                metrics,
                election,
                errors);
    }

    private ClosedRestEndpoint(
            Configuration configuration,
            RestHandlerConfiguration handlers,
            LeaderGatewayRetriever<DispatcherGateway> dispatcher,
            LeaderGatewayRetriever<ResourceManagerGateway> resourceManager,
            TransientBlobService blobs,
            ScheduledExecutorService executor,
            MetricFetcher metrics,
            LeaderElection election,
            FatalErrorHandler errors)
            throws IOException, ConfigurationException {
        super(
                dispatcher,
                configuration,
                handlers,
                resourceManager,
                blobs,
                executor,
                metrics,
                election,
                RestEndpointFactory.createExecutionGraphCache(handlers),
                errors);
    }

    @Override
    protected List<Tuple2<RestHandlerSpecification, ChannelInboundHandler>> initializeHandlers(
            CompletableFuture<String> localAddress) {
        return new ArrayList<>();
    }

    @Override
    public void startInternal() throws Exception {
        // Called when the socket is bound. The endpoint does not become leader, so no component in the process looks
        // for it.
        shutDownInternal().get();
    }

    @Override
    protected synchronized CompletableFuture<Void> shutDownInternal() {
        if (closing == null) {
            closing = super.shutDownInternal();
        }
        return closing;
    }
}
