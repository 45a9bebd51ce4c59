# One image for all roles: web (the default), worker, migrate, all; dist/server/admin.mjs by another entrypoint. docs/deploy/docker.md
# says how to run it.
FROM node:24-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json prisma.config.ts ./
COPY prisma ./prisma
RUN npm ci --no-audit --no-fund
COPY . .
# npm links the Node of the lock's version for this platform.
RUN npm run build && cp node_modules/.bin/node node

FROM debian:bookworm-slim
# The Node that the build ran on, and no package manager.
COPY --from=build /src/node /usr/local/bin/node
WORKDIR /app
COPY --from=build /src/.next/standalone/node_modules ./node_modules
COPY --from=build /src/.next/standalone/.next ./.next
COPY --from=build /src/.next/static ./.next/static
COPY --from=build /src/public ./public
COPY --from=build /src/app/fonts/OFL.txt ./app/fonts/OFL.txt
COPY --from=build /src/prisma/migrations ./prisma/migrations
COPY --from=build /src/dist/server ./dist/server
COPY --from=build /src/dist/spoor.mjs ./dist/spoor.mjs
COPY --from=build /src/package.json ./package.json
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000
# Nobody's: the process writes no file, and needs none but its own.
USER 10001:10001
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/api/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Not `npm start`: npm passes no SIGTERM on.
ENTRYPOINT ["node", "dist/server/start.mjs"]
CMD ["web"]
