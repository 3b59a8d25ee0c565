package dev.stoker.mount.fuse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The user and group of this process, to whom the files belong.
 *
 * @param user number of the user
 * @param group number of the group
 */
record Owner(int user, int group) {

    static Owner ofProcess() throws IOException {
        Path process = Path.of("/proc/self");
        return new Owner(
                (Integer) Files.getAttribute(process, "unix:uid"), (Integer) Files.getAttribute(process, "unix:gid"));
    }
}
