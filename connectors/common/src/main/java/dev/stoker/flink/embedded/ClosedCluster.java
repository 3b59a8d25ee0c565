package dev.stoker.flink.embedded;

import java.util.Collection;
import java.util.ServiceLoader;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.blob.BlobServer;
import org.apache.flink.runtime.dispatcher.DispatcherGateway;
import org.apache.flink.runtime.dispatcher.SessionDispatcherFactory;
import org.apache.flink.runtime.dispatcher.runner.DefaultDispatcherRunnerFactory;
import org.apache.flink.runtime.entrypoint.component.DefaultDispatcherResourceManagerComponentFactory;
import org.apache.flink.runtime.entrypoint.component.DispatcherResourceManagerComponent;
import org.apache.flink.runtime.entrypoint.component.DispatcherResourceManagerComponentFactory;
import org.apache.flink.runtime.heartbeat.HeartbeatServices;
import org.apache.flink.runtime.metrics.MetricRegistry;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.runtime.resourcemanager.StandaloneResourceManagerFactory;
import org.apache.flink.runtime.rest.RestEndpointFactory;
import org.apache.flink.runtime.rpc.FatalErrorHandler;
import org.apache.flink.runtime.rpc.RpcSystem;
import org.apache.flink.runtime.security.token.DelegationTokenManager;
import org.apache.flink.runtime.webmonitor.retriever.MetricQueryServiceRetriever;
import org.apache.flink.util.Reference;

/**
 * A cluster without sockets. Flink starts a BlobServer and a REST endpoint in any cluster, without authentication; in
 * one process neither is needed. The BlobServer is closed before Flink starts anything else. The REST endpoint has no
 * handlers and closes during its own start. Both are bound to loopback for the milliseconds that they exist.
 *
 * <p>The configuration must request no TaskManagers: the only one starts after the sockets are closed.
 */
@SuppressWarnings("try") // Flink's close() may be interrupted.
final class ClosedCluster extends MiniCluster {

    ClosedCluster(MiniClusterConfiguration configuration) {
        super(configuration, () -> Reference.owned(rpcSystem(configuration)));
    }

    /**
     * Returns the RPC system of the class path; the command has one there. Flink's loader would unpack a jar of 24 MB
     * at each start and load its classes outside the archive of loaded classes.
     */
    private static RpcSystem rpcSystem(MiniClusterConfiguration configuration) {
        return ServiceLoader.load(RpcSystem.class, ClosedCluster.class.getClassLoader())
                .findFirst()
                .orElseGet(() -> RpcSystem.load(configuration.getConfiguration()));
    }

    @Override
    public void start() throws Exception {
        super.start();
        startTaskManager();
    }

    @Override
    protected boolean useLocalCommunication() {
        // A TaskManager that is not the only one would listen for the others.
        return true;
    }

    @Override
    protected Collection<? extends DispatcherResourceManagerComponent> createDispatcherResourceManagerComponents(
            Configuration configuration,
            RpcServiceFactory rpcServices,
            BlobServer blobServer,
            HeartbeatServices heartbeats,
            DelegationTokenManager tokens,
            MetricRegistry metrics,
            MetricQueryServiceRetriever metricQueries,
            FatalErrorHandler errors)
            throws Exception {
        blobServer.close();
        return super.createDispatcherResourceManagerComponents(
                configuration, rpcServices, blobServer, heartbeats, tokens, metrics, metricQueries, errors);
    }

    @Override
    protected DispatcherResourceManagerComponentFactory createDispatcherResourceManagerComponentFactory() {
        RestEndpointFactory<DispatcherGateway> rest = ClosedRestEndpoint::new;
        return new DefaultDispatcherResourceManagerComponentFactory(
                DefaultDispatcherRunnerFactory.createSessionRunner(SessionDispatcherFactory.INSTANCE),
                StandaloneResourceManagerFactory.getInstance(),
                rest);
    }
}
