package dev.stoker.feeder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.feeder.plan.FeedOptions;
import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.plan.InvalidFeedException;
import dev.stoker.server.security.AccessException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The options of a feed that restrict access. */
class FeederSecurityTest {
    @TempDir
    Path directory;

    private static void refuses(String expected, String... options) {
        List<String> args = new ArrayList<>(List.of("nosuch"));
        args.addAll(List.of(options));
        assertThatThrownBy(() -> FeedOptions.parse(args.toArray(String[]::new)))
                .isInstanceOf(InvalidFeedException.class)
                .satisfies(e -> assertThat(((InvalidFeedException) e).problems())
                        .singleElement()
                        .satisfies(problem -> assertThat(problem).contains(expected)));
    }

    @Test
    void refusesOptionsThatDoNotGoTogether() {
        refuses("--tls-cert and --tls-key: only one is given; give both", "--tls-cert=a.pem");
        refuses("--tls-cert and --tls-key: only one is given; give both", "--tls-key=a.key");
        refuses("--tls-client-ca: the feeder also needs a certificate", "--tls-client-ca=ca.pem");
        refuses("--token-file", "--bind=0.0.0.0");
        refuses("--token-file", "--bind=0.0.0.0", "--tls-cert=a.pem", "--tls-key=a.key");
    }

    @Test
    void whatDoesGoTogetherIsNotRefused() {
        for (List<String> options : List.of(
                List.of("--bind=0.0.0.0", "--token-file=t"),
                List.of("--bind=0.0.0.0", "--tls-cert=a", "--tls-key=b", "--tls-client-ca=c"),
                List.of("--bind=0.0.0.0", "--insecure"),
                List.of("--bind=127.0.0.2"))) {
            List<String> args =
                    new ArrayList<>(List.of(directory.resolve("nosuch").toString()));
            args.addAll(options);
            // Only the dataset is missing.
            assertThatThrownBy(() -> FeedPlan.of(FeedOptions.parse(args.toArray(String[]::new))))
                    .as("%s", options)
                    .isInstanceOf(IOException.class)
                    .isNotInstanceOf(InvalidFeedException.class);
        }
    }

    @Test
    void theJobGraphHoldsNamesOfFilesOnly() throws IOException {
        Path token = Files.writeString(directory.resolve("token"), "secret");
        FeedPlan.Security security = new FeedPlan.Security(token.toString(), null, null, null, false);
        assertThat(security.toString()).contains("token").doesNotContain("secret");
        assertThat(security.access().token()).isPresent();
        Files.delete(token);
        assertThatThrownBy(security::access).isInstanceOf(AccessException.class);
    }
}
