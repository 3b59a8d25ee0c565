package dev.stoker.client.errors;

/** A feeder refused the session, or broke the protocol. */
public class FeedProtocolException extends FeedException {
    private static final long serialVersionUID = 1L;

    private final String code;

    public FeedProtocolException(String message, String code) {
        super(message);
        this.code = code;
    }

    /**
     * The code of the feeder's ERROR frame, for example {@code unauthorized} or {@code order_mismatch}; {@code
     * bad_frame} if it violated the protocol.
     */
    public String code() {
        return code;
    }
}
