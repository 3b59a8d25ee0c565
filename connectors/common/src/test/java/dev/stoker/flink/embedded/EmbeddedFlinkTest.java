package dev.stoker.flink.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.DatagramChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class EmbeddedFlinkTest {

    private static final Set<Long> MAPPED = ConcurrentHashMap.newKeySet();
    private static volatile CountDownLatch atWork;
    private static volatile CountDownLatch mayEnd;

    @BeforeEach
    void reset() {
        MAPPED.clear();
        atWork = new CountDownLatch(1);
        mayEnd = new CountDownLatch(1);
    }

    private static Configuration small() {
        Configuration settings = new Configuration();
        settings.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(8));
        settings.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(8));
        settings.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(8));
        return settings;
    }

    private static Set<ListeningSockets.Socket> sockets() throws Exception {
        return ListeningSockets.of(ProcessHandle.current().pid());
    }

    /**
     * Two subtasks, so that data is exchanged, and a description of more than a megabyte, for which Flink would use a
     * blob.
     */
    private static void job(StreamExecutionEnvironment env) {
        byte[] large = new byte[3 << 20];
        env.fromSequence(0, 99)
                .rebalance()
                .map(value -> {
                    MAPPED.add(value + large[0]);
                    atWork.countDown();
                    mayEnd.await();
                    return value;
                })
                .returns(Long.class)
                .sinkTo(new DiscardingSink<>());
    }

    @Test
    void aJobAtWorkListensNowhere() throws Exception {
        Set<ListeningSockets.Socket> before = sockets();
        StreamExecutionEnvironment env = EmbeddedFlink.environment(2, small());
        job(env);

        JobClient client = env.executeAsync("job");
        assertThat(atWork.await(60, TimeUnit.SECONDS)).isTrue();

        assertThat(sockets()).isEqualTo(before);
        assertThat(client.getJobStatus().get()).isEqualTo(JobStatus.RUNNING);
        mayEnd.countDown();
        client.getJobExecutionResult().get();
        assertThat(MAPPED).hasSize(100);
        assertThat(sockets()).isEqualTo(before);
    }

    @Test
    void aClusterListensNowhereAndEndsInGoodOrder() throws Exception {
        Set<ListeningSockets.Socket> before = sockets();
        StreamExecutionEnvironment env = EmbeddedFlink.environment(2, small());
        job(env);
        MiniCluster cluster = EmbeddedFlink.start(2, small());
        try {
            JobGraph graph = env.getStreamGraph().getJobGraph();
            cluster.submitJob(graph).get();
            assertThat(atWork.await(60, TimeUnit.SECONDS)).isTrue();

            assertThat(sockets()).isEqualTo(before);
            mayEnd.countDown();
            assertThat(cluster.requestJobResult(graph.getJobID()).get().isSuccess())
                    .isTrue();
        } finally {
            cluster.closeAsync().get(60, TimeUnit.SECONDS);
        }
        assertThat(sockets()).isEqualTo(before);
    }

    @Test
    void everyKindOfSocketIsSeen(@TempDir Path directory) throws Exception {
        Set<ListeningSockets.Socket> before = sockets();
        Path path = directory.resolve("s");
        try (ServerSocket loopback = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"));
                ServerSocket everywhere = new ServerSocket(0, 1, InetAddress.getByName("0.0.0.0"));
                ServerSocketChannel unix = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
                DatagramChannel udp = DatagramChannel.open(StandardProtocolFamily.INET)) {
            unix.bind(UnixDomainSocketAddress.of(path));
            udp.bind(new InetSocketAddress("127.0.0.1", 0));
            Set<ListeningSockets.Socket> found = sockets();
            found.removeAll(before);

            assertThat(found).filteredOn(ListeningSockets.Socket::isLocal).hasSize(3);
            assertThat(found).filteredOn(socket -> !socket.isLocal()).hasSize(1);
            int port = ((InetSocketAddress) udp.getLocalAddress()).getPort();
            assertThat(found.stream().map(ListeningSockets.Socket::toString))
                    .anyMatch(text -> text.contains("tcp") && text.contains("127.0.0.1:" + loopback.getLocalPort()))
                    .anyMatch(text -> text.contains(":" + everywhere.getLocalPort()))
                    .anyMatch(text -> text.contains("udp") && text.contains(":" + port))
                    .anyMatch(text -> text.contains(path.toString()));
        }
        assertThat(List.copyOf(sockets())).isEqualTo(List.copyOf(before));
    }
}
