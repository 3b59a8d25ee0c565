package dev.stoker.flink.launch;

import dev.stoker.schemas.errors.StokerException;
import org.apache.flink.client.program.ProgramParametrizationException;

/** Runs the main method of a job jar. */
public final class JobMain {
    private JobMain() {}

    /** The content of a main method. */
    public interface Body {
        void run() throws Exception;
    }

    /**
     * Runs the content. Flink's command prints the stack trace of each exception twice, except of the one that this
     * method throws for a mistake of the user: of it, the command prints the message alone.
     *
     * @throws ProgramParametrizationException if arguments are wrong, or the job cannot be started with them
     */
    public static void run(Body body) throws Exception {
        try {
            body.run();
        } catch (StokerException | IllegalArgumentException e) {
            ProgramParametrizationException plain = new ProgramParametrizationException("stoker: " + e.getMessage());
            plain.initCause(e);
            throw plain;
        }
    }
}
