/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, children, sockets, files and much garbage. */
import java.io.*;
import java.net.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;

public class Jobs {
	static long garbage(int seed) {
		long n = 0;
		for (int i = 0; i < 200; i++) {
			byte[] b = new byte[1 << 16];
			b[i] = (byte) seed;
			n += Arrays.hashCode(b) % 1000;
		}
		return n;
	}

	static void serve(ServerSocket s, int count) {
		try {
			for (int i = 0; i < count; i++)
				try (Socket c = s.accept()) {
					String line = new BufferedReader(
						new InputStreamReader(c.getInputStream())).readLine();
					c.getOutputStream().write(
						(new StringBuilder(line).reverse() + "\n").getBytes());
				}
		} catch (IOException e) {
			System.out.println(e);
		}
	}

	public static void main(String[] arguments) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(8);
		List<Future<Long>> sums = new ArrayList<>();
		for (int i = 0; i < 32; i++) {
			int seed = i;
			sums.add(pool.submit(() -> garbage(seed)));
		}
		long all = 0;
		for (Future<Long> f : sums)
			all += f.get();
		System.out.println(all);
		ServerSocket s = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
		Thread server = new Thread(() -> serve(s, 100));
		server.start();
		for (int i = 0; i < 100; i++)
			try (Socket c = new Socket(InetAddress.getLoopbackAddress(), s.getLocalPort())) {
				c.getOutputStream().write(("line " + i + "\n").getBytes());
				String answer = new BufferedReader(
					new InputStreamReader(c.getInputStream())).readLine();
				if (i % 25 == 0)
					System.out.println(answer);
			}
		server.join();
		for (int i = 0; i < 5; i++) {
			Process p = new ProcessBuilder("sh", "-c", "cat; exit " + i).start();
			try (OutputStream o = p.getOutputStream()) {
				o.write(("to child " + i + "\n").getBytes());
			}
			System.out.print(new String(p.getInputStream().readAllBytes()) + p.waitFor() + "\n");
		}
		Path file = Paths.get("lines");
		Files.write(file, IntStream.range(0, 10000).mapToObj(Integer::toString).collect(Collectors.toList()));
		System.out.println(Files.lines(file).mapToInt(Integer::parseInt).parallel().sum());
		Object nothing = null;
		int caught = 0;
		for (int i = 0; i < 100000; i++)
			try { /* its signal SIGSEGV is how it notices */
				nothing.hashCode();
			} catch (NullPointerException e) {
				caught++;
			}
		System.out.println(caught);
		pool.shutdown();
		Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook")));
	}
}
