package dev.stoker.connectors.shared;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** For a test class whose threads {@link LeftoverCheck} does not check, because a library does not end them. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
public @interface LeavesThreads {

    /** Names the library and its threads. */
    String value();
}
