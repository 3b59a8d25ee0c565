package dev.stoker.sql.client;

import java.io.IOException;
import org.apache.flink.table.client.SqlClient;

/**
 * Flink's SQL client for the command {@code stoker sql}. While it runs a script, it ends with the command: the command
 * holds its standard input open, and writes nothing to it.
 */
public final class SqlSession {
    private SqlSession() {}

    /** @param args of Flink's SQL client */
    public static void main(String[] args) {
        if (Boolean.getBoolean("stoker.sql.script")) {
            Thread watch = new Thread(SqlSession::endWithTheCommand, "stoker-parent");
            watch.setDaemon(true);
            watch.start();
        }
        SqlClient.main(args);
    }

    private static void endWithTheCommand() {
        try {
            while (System.in.read() >= 0) {
                // Nothing is written to it.
            }
        } catch (IOException e) {
            // The pipe is broken, so the command has ended, too.
        }
        Runtime.getRuntime().halt(1);
    }
}
