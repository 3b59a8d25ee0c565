package dev.stoker.cli.redis;

import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.StokerException;

/** Thrown when places cannot be loaded into a Redis server. Lookups do not need the server. */
public final class RedisUnavailableException extends StokerException {
    private static final long serialVersionUID = 1L;

    RedisUnavailableException(String url, Throwable cause) {
        super(url + " stores nothing: " + ErrorText.of(cause) + "; check the server, or leave out --redis", cause);
    }
}
